"""Moves on trial: what the walk may look at after one, by name, and how it takes one back.

``g`` is the :class:`~tbgat.graph.arrays.Arrays` of a batch. Times are in hundreds of training
units.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in Arrays.

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tbgat.graph.compiled import inner_kernel
from tbgat.policy.move_features import is_tabu

__all__ = ["TRIAL_FEATURES", "Saved", "describe_trial", "note_pair", "save", "take_back"]

TRIAL_FEATURES: dict[str, str] = {
    "makespan_change": "makespan after the move relative to the one before",
    "makespan_to_best": "makespan after the move relative to the best so far",
    "next_score": "highest score of a move that could follow",
    "next_change": "smallest estimate after a move that may follow, to the makespan before",
    "next_to_best": "the same relative to the best so far",
    "next_beats_best": "1 if that is less than the best so far",
    "next_choices": "number of moves that could follow, logarithmic",
    "seen": "how many remembered steps had the makespan after the move: a quarter each, up to 1",
}
"""Inputs of the score of a trial. New ones go to the end: their places are their codes."""

(
    _MAKESPAN_CHANGE, _MAKESPAN_TO_BEST, _NEXT_SCORE, _NEXT_CHANGE, _NEXT_TO_BEST,
    _NEXT_BEATS_BEST, _NEXT_CHOICES, _SEEN,
) = range(len(TRIAL_FEATURES))  # fmt: skip

FURTHEST = 2.0
LOWEST_SCORE = -3.0
# In hundreds of training units: worse continuations are no worse.
MAX_LOSS = 1.0


class Saved(NamedTuple):
    """What a swap changes, as it was before: room for one solution of a batch."""

    est: npt.NDArray[np.int64]
    tail: npt.NDArray[np.int64]
    order: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    machine: npt.NDArray[np.int32]  # neighbours before and behind the pair
    moved: npt.NDArray[np.int64]  # what is noted of the pair, and in the ring of swaps

    @classmethod
    def of(cls, operations: int) -> Saved:
        """Make room for solutions of at most so many operations."""
        return cls(
            est=np.zeros(operations, dtype=np.int64),
            tail=np.zeros(operations, dtype=np.int64),
            order=np.zeros(operations, dtype=np.int32),
            position=np.zeros(operations, dtype=np.int32),
            machine=np.zeros(2, dtype=np.int32),
            moved=np.zeros(6, dtype=np.int64),
        )


@inner_kernel
def save(g, b, saved):
    """Keep a solution as it is, to come back to it after any number of trials."""
    lo = g.offset[b]
    for i in range(g.offset[b + 1] - lo):
        saved.est[i] = g.est[lo + i]
        saved.tail[i] = g.tail[lo + i]
        saved.order[i] = g.order[lo + i]
        saved.position[i] = g.position[lo + i]


@inner_kernel
def note_pair(g, b, u, v, saved):
    """Keep what else a swap of u and v is going to change."""
    slot = g.swaps[b] % g.memory_u.shape[1]
    saved.machine[0] = g.machine_pred[u]
    saved.machine[1] = g.machine_succ[v]
    saved.moved[0] = g.moved_at[u]
    saved.moved[1] = g.moved_at[v]
    saved.moved[2] = g.memory_u[b, slot]
    saved.moved[3] = g.memory_v[b, slot]
    saved.moved[4] = g.memory_makespan[b, slot]
    saved.moved[5] = g.makespan[b]


@inner_kernel
def take_back(g, b, u, v, saved):
    """Undo the latest swap, of u and v, so that nothing tells of it.

    Copying is far cheaper than swapping back, which computes heads and tails anew.
    """
    lo = g.offset[b]
    for i in range(g.offset[b + 1] - lo):
        g.est[lo + i] = saved.est[i]
        g.tail[lo + i] = saved.tail[i]
        g.order[lo + i] = saved.order[i]
        g.position[lo + i] = saved.position[i]
    above = saved.machine[0]
    below = saved.machine[1]
    g.machine_pred[u] = above
    g.machine_succ[u] = v
    g.machine_pred[v] = u
    g.machine_succ[v] = below
    if above >= 0:
        g.machine_succ[above] = u
    if below >= 0:
        g.machine_pred[below] = v
    g.swaps[b] -= 1
    slot = g.swaps[b] % g.memory_u.shape[1]
    g.moves_made[u] -= 1
    g.moves_made[v] -= 1
    g.moved_at[u] = saved.moved[0]
    g.moved_at[v] = saved.moved[1]
    g.memory_u[b, slot] = saved.moved[2]
    g.memory_v[b, slot] = saved.moved[3]
    g.memory_makespan[b, slot] = saved.moved[4]
    g.makespan[b] = saved.moved[5]


@inner_kernel
def _clipped(value):
    return max(-FURTHEST, min(FURTHEST, value))


@inner_kernel
def describe_trial(g, b, before, best, unit, scores, codes, x):
    """Fill ``x`` with the features of the move that was just made on trial.

    Parameters
    ----------
    before
        Makespan before it.
    best
        Smallest makespan so far.
    unit
        Brings times into hundreds of training units.
    scores
        Of the moves that could follow; ``g.move_makespan`` holds their estimates.
    codes
        Which features, see :data:`TRIAL_FEATURES`.
    """
    lo = g.offset[b]
    now = g.makespan[b]
    lowest = now + MAX_LOSS / unit
    highest = LOWEST_SCORE
    for k in range(g.move_count[b]):
        highest = max(highest, scores[k])
        estimate = g.move_makespan[lo + k]
        if estimate < lowest and not is_tabu(g, b, g.move_age[lo + k], estimate, best):
            lowest = estimate
    for i in range(len(codes)):
        code = codes[i]
        value = 0.0
        if code == _MAKESPAN_CHANGE:
            value = _clipped((now - before) * unit)
        elif code == _MAKESPAN_TO_BEST:
            value = _clipped((now - best) * unit)
        elif code == _NEXT_SCORE:
            value = highest
        elif code == _NEXT_CHANGE:
            value = _clipped((lowest - before) * unit)
        elif code == _NEXT_TO_BEST:
            value = _clipped((lowest - best) * unit)
        elif code == _NEXT_BEATS_BEST:
            value = 1.0 if lowest < best else 0.0
        elif code == _NEXT_CHOICES:
            value = 0.5 * math.log1p(g.move_count[b])
        elif code == _SEEN:
            hits = 0
            # Without the one that the trial itself noted.
            for back in range(2, min(g.swaps[b], g.memory_u.shape[1]) + 1):
                slot = (g.swaps[b] - back) % g.memory_u.shape[1]
                hits += g.memory_makespan[b, slot] == now
            value = min(1.0, 0.25 * hits)
        x[i] = value
