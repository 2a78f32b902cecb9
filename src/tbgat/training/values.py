"""What every move of a solution is worth: made, and followed several times by a cheap policy."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in Arrays.

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tbgat.errors import UsageError
from tbgat.graph.compiled import announce_compilation, lean_kernel
from tbgat.graph.state import GraphBatch
from tbgat.graph.swap import swap_adjacent
from tbgat.policy.features import MOVE_UNIT, Observation, training_scale
from tbgat.policy.move_walk import MoveScorer, flat_weights, make_move
from tbgat.policy.network import TBGAT
from tbgat.policy.threads import together
from tbgat.policy.trials import Saved, save, take_back

__all__ = ["lowest_makespans"]

Int64 = npt.NDArray[np.int64]


@lean_kernel
def _roll_out(
    g, begin, end, u, v, starts, seeds, marks, scorer, weights, saved, unit, path, head, buffer,
    random, found,
):  # fmt: skip
    """Fill ``found`` for the moves of solutions ``begin .. end - 1``, which stay as they are."""
    for b in range(begin, end):
        save(g, b, saved)
        for k in range(starts[b], starts[b + 1]):
            for trial in range(seeds.shape[1]):
                random[b] = seeds[b, trial]
                swap_adjacent(g, b, u[k], v[k], buffer)
                lowest = g.makespan[b]
                mark = 0
                for step in range(1, marks[-1] + 1):
                    if step == marks[mark]:
                        found[k, trial, mark] = lowest
                        mark += 1
                    if step == marks[-1] or not make_move(
                        g, b, random, path, head, buffer, scorer, weights, g.lowest[b], unit[b],
                        False,
                    ):  # fmt: skip
                        break
                    lowest = min(lowest, g.makespan[b])
                for rest in range(mark, len(marks)):
                    found[k, trial, rest] = lowest
                take_back(g, b, saved)


def lowest_makespans(
    batch: GraphBatch,
    seen: Observation,
    follower: TBGAT,
    *,
    rollouts: int,
    marks: Sequence[int],
    rng: np.random.Generator,
    threads: int = 1,
) -> Int64:
    """Lowest makespan of every roll-out within so many steps, the move itself being the first.

    All moves of a solution are followed with the same random numbers. The solutions are left as
    they are; what the batch lists as their moves is not.

    Parameters
    ----------
    seen
        The moves.
    follower
        A network without a graph, which makes the steps after the move.
    marks
        Numbers of steps, rising.

    Returns
    -------
    moves x rollouts x marks
    """
    if follower.config.layers:
        raise UsageError("roll-outs need a network without a graph, such as the weights 'visible'")
    announce_compilation(_roll_out)
    g = batch.arrays
    count = len(g.duration)
    unit = training_scale(g.duration, g.offset) / MOVE_UNIT
    seeds = rng.integers(0, 2**64, size=(len(batch), rollouts), dtype=np.uint64)
    found = np.zeros((len(seen.move_u), rollouts, len(marks)), dtype=np.int64)
    memory, weights = g.memory_u.shape[1], flat_weights(follower)

    def part(begin: int, end: int) -> None:
        _roll_out(
            g,
            begin,
            end,
            seen.move_u,
            seen.move_v,
            seen.move_offsets,
            seeds,
            np.array(marks, dtype=np.int64),
            MoveScorer.of(follower.config, count, memory),
            weights,
            Saved.of(count, memory),
            unit,
            np.zeros(count, dtype=np.int32),
            np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=np.int32),
            np.zeros(len(batch), dtype=np.uint64),
            found,
        )

    cuts = [len(batch) * i // threads for i in range(threads + 1)]
    together([partial(part, *cuts[i : i + 2]) for i in range(threads)])
    return found
