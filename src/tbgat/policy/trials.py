"""Moves on trial: what the walk may look at after one, by name, and how it takes them back.

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

__all__ = ["TRIAL_FEATURES", "Saved", "describe_trial", "save", "take_back"]

TRIAL_FEATURES: dict[str, str] = {
    "makespan_change": "makespan after the move relative to the one before",
    "makespan_to_best": "makespan after the move relative to the best so far",
    "lowest_change": "lowest makespan of the look ahead, relative to the one before the move",
    "beats_best": "1 if that is less than the best so far",
    "end_change": "makespan at the end of the look ahead, relative to the one before the move",
    "next_change": "smallest estimate after a move that may follow there, likewise",
    "next_to_best": "the same relative to the best so far",
    "next_beats_best": "1 if that is less than the best so far",
    "next_score": "highest score of a move that could follow there",
    "next_choices": "number of such moves, logarithmic",
}
"""Inputs of the score of a trial. New ones go to the end: their places are their codes."""

(
    _MAKESPAN_CHANGE, _MAKESPAN_TO_BEST, _LOWEST_CHANGE, _BEATS_BEST, _END_CHANGE, _NEXT_CHANGE,
    _NEXT_TO_BEST, _NEXT_BEATS_BEST, _NEXT_SCORE, _NEXT_CHOICES,
) = range(len(TRIAL_FEATURES))  # fmt: skip

FURTHEST = 2.0
LOWEST_SCORE = -3.0
# In hundreds of training units: worse continuations are no worse.
MAX_LOSS = 1.0


class Saved(NamedTuple):
    """All that swaps change in one solution of a batch, as it was before the trials.

    The names are those of :class:`~tbgat.graph.arrays.Arrays`.
    """

    est: npt.NDArray[np.int64]
    tail: npt.NDArray[np.int64]
    moved_at: npt.NDArray[np.int64]
    order: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    machine_pred: npt.NDArray[np.int32]
    machine_succ: npt.NDArray[np.int32]
    moves_made: npt.NDArray[np.int32]
    memory_u: npt.NDArray[np.int32]
    memory_v: npt.NDArray[np.int32]
    memory_makespan: npt.NDArray[np.int64]
    state: npt.NDArray[np.int64]  # makespan, swaps, lowest, lowest_at

    @classmethod
    def of(cls, operations: int, memory: int) -> Saved:
        """Make room for solutions of at most so many operations and remembered swaps."""
        est, tail, moved_at = np.zeros((3, operations), dtype=np.int64)
        order, position, before, behind, moves_made = np.zeros((5, operations), dtype=np.int32)
        memory_u, memory_v = np.zeros((2, memory), dtype=np.int32)
        return cls(
            est=est,
            tail=tail,
            moved_at=moved_at,
            order=order,
            position=position,
            machine_pred=before,
            machine_succ=behind,
            moves_made=moves_made,
            memory_u=memory_u,
            memory_v=memory_v,
            memory_makespan=np.zeros(memory, dtype=np.int64),
            state=np.zeros(4, dtype=np.int64),
        )


@inner_kernel
def _copy(source, begin, target, at, count):
    for i in range(count):
        target[at + i] = source[begin + i]


@inner_kernel
def save(g, b, saved):
    """Keep a solution as it is, to come back to it after any number of trials."""
    lo = g.offset[b]
    size = g.offset[b + 1] - lo
    _copy(g.est, lo, saved.est, 0, size)
    _copy(g.tail, lo, saved.tail, 0, size)
    _copy(g.moved_at, lo, saved.moved_at, 0, size)
    _copy(g.order, lo, saved.order, 0, size)
    _copy(g.position, lo, saved.position, 0, size)
    _copy(g.machine_pred, lo, saved.machine_pred, 0, size)
    _copy(g.machine_succ, lo, saved.machine_succ, 0, size)
    _copy(g.moves_made, lo, saved.moves_made, 0, size)
    size = g.memory_u.shape[1]
    _copy(g.memory_u[b], 0, saved.memory_u, 0, size)
    _copy(g.memory_v[b], 0, saved.memory_v, 0, size)
    _copy(g.memory_makespan[b], 0, saved.memory_makespan, 0, size)
    saved.state[0] = g.makespan[b]
    saved.state[1] = g.swaps[b]
    saved.state[2] = g.lowest[b]
    saved.state[3] = g.lowest_at[b]


@inner_kernel
def take_back(g, b, saved):
    """Bring back the solution that was saved, so that nothing tells of the swaps since.

    Copying is far cheaper than swapping back, which computes heads and tails anew.
    """
    lo = g.offset[b]
    size = g.offset[b + 1] - lo
    _copy(saved.est, 0, g.est, lo, size)
    _copy(saved.tail, 0, g.tail, lo, size)
    _copy(saved.moved_at, 0, g.moved_at, lo, size)
    _copy(saved.order, 0, g.order, lo, size)
    _copy(saved.position, 0, g.position, lo, size)
    _copy(saved.machine_pred, 0, g.machine_pred, lo, size)
    _copy(saved.machine_succ, 0, g.machine_succ, lo, size)
    _copy(saved.moves_made, 0, g.moves_made, lo, size)
    size = g.memory_u.shape[1]
    _copy(saved.memory_u, 0, g.memory_u[b], 0, size)
    _copy(saved.memory_v, 0, g.memory_v[b], 0, size)
    _copy(saved.memory_makespan, 0, g.memory_makespan[b], 0, size)
    g.makespan[b] = saved.state[0]
    g.swaps[b] = saved.state[1]
    g.lowest[b] = saved.state[2]
    g.lowest_at[b] = saved.state[3]


@inner_kernel
def _clipped(value):
    return max(-FURTHEST, min(FURTHEST, value))


@inner_kernel
def describe_trial(g, b, before, after, lowest, best, unit, scores, codes, x):
    """Fill ``x`` with the features of a move on trial, where the look ahead from it ended.

    Parameters
    ----------
    before, after, lowest
        Makespans: before the move, after it, and the lowest since.
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
    following = now + MAX_LOSS / unit
    highest = LOWEST_SCORE
    for k in range(g.move_count[b]):
        highest = max(highest, scores[k])
        estimate = g.move_makespan[lo + k]
        if estimate < following and not is_tabu(g, b, g.move_age[lo + k], estimate, best):
            following = estimate
    for i in range(len(codes)):
        code = codes[i]
        value = 0.0
        if code == _MAKESPAN_CHANGE:
            value = _clipped((after - before) * unit)
        elif code == _MAKESPAN_TO_BEST:
            value = _clipped((after - best) * unit)
        elif code == _LOWEST_CHANGE:
            value = _clipped((lowest - before) * unit)
        elif code == _BEATS_BEST:
            value = 1.0 if lowest < best else 0.0
        elif code == _END_CHANGE:
            value = _clipped((now - before) * unit)
        elif code == _NEXT_CHANGE:
            value = _clipped((following - before) * unit)
        elif code == _NEXT_TO_BEST:
            value = _clipped((following - best) * unit)
        elif code == _NEXT_BEATS_BEST:
            value = 1.0 if following < best else 0.0
        elif code == _NEXT_SCORE:
            value = highest
        elif code == _NEXT_CHOICES:
            value = 0.5 * math.log1p(g.move_count[b])
        x[i] = value
