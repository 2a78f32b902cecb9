"""The disjunctive graphs of a batch of solutions: flat arrays, one owner of mutation.

Solutions of different instances and shapes stand side by side without padding. Only
:meth:`GraphBatch.swap` changes a graph.
"""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.errors import CycleError, UsageError
from tbgat.graph.arrays import Int64, allocate
from tbgat.graph.compiled import announce_compilation
from tbgat.graph.swap import (
    circling_range,
    evaluate_range,
    levels_range,
    moves_range,
    proved_range,
    swap_range,
)
from tbgat.instance import Instance
from tbgat.schedule import Schedule

__all__ = ["GraphBatch", "random_states"]

UInt64 = npt.NDArray[np.uint64]

DEFAULT_MEMORY = 20
# With fewer operations each, waking a thread takes longer than its share of the work.
LEAST_PER_THREAD = 1 << 16


class GraphBatch:
    """Complete solutions of any instances, evaluated and ready to be moved.

    Parameters
    ----------
    instances
        One per solution; the same one may appear many times.
    orders
        Per solution the machine orders: ``orders[b][m]`` lists operation numbers of the instance.
    memory
        How many swaps back an arc counts as recently made.
    threads
        Threads that may share the batch; results do not depend on it.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        orders: Sequence[Sequence[Sequence[int]]],
        *,
        memory: int = DEFAULT_MEMORY,
        threads: int = 1,
    ) -> None:
        if not instances or len(instances) != len(orders):
            raise UsageError(f"{len(instances)} instances for {len(orders)} solutions")
        self.instances = tuple(instances)
        self.arrays = allocate(self.instances, max(1, memory))
        useful = min(threads, len(self.arrays.duration) // LEAST_PER_THREAD)
        self._pool = _pool(useful)
        self._pieces = _cut(self.arrays.offset, useful)
        for b, machine_orders in enumerate(orders):
            self._link(b, machine_orders)
        self.evaluate()

    @classmethod
    def from_schedules(
        cls, instances: Sequence[Instance], schedules: Sequence[Schedule], **options: Any
    ) -> GraphBatch:
        """Take the machine orders of given schedules."""
        orders = [s.machine_orders(i) for i, s in zip(instances, schedules, strict=True)]
        return cls(instances, orders, **options)

    def __len__(self) -> int:
        return len(self.instances)

    @property
    def lst(self) -> Int64:
        """Latest start of every operation without a longer makespan (Eq. 2, corrected)."""
        g = self.arrays
        sizes = np.diff(g.offset)
        return np.asarray(np.repeat(g.makespan, sizes) - g.tail - g.duration)

    @property
    def critical(self) -> npt.NDArray[np.bool_]:
        """Whether each operation is critical: EST = LST, in whole numbers."""
        return np.asarray(self.arrays.est == self.lst)

    @property
    def proved_optimal(self) -> npt.NDArray[np.bool_]:
        """Per solution: the drawn critical path is one machine's or one job's, so it is optimal.

        Call :meth:`neighbourhood` first.
        """
        proved = np.zeros(len(self), dtype=np.bool_)
        self._run(proved_range, proved)
        return proved

    @property
    def circling(self) -> npt.NDArray[np.bool_]:
        """Per solution: its last 20 swaps were of four pairs of operations or fewer.

        Never so, if fewer swaps are remembered.
        """
        found = np.zeros(len(self), dtype=np.bool_)
        self._run(circling_range, found)
        return found

    def evaluate(self) -> None:
        """Compute topological order, EST, tails and makespan of all solutions from scratch."""
        stuck = self._run(evaluate_range)
        if stuck >= 0:
            name = self.instances[stuck].name or f"number {stuck}"
            raise CycleError(f"the machine orders of solution {name} contradict each other")

    def levels(self) -> None:
        """Compute the forward and backward topological sorts of all solutions."""
        self._run(levels_range)

    def neighbourhood(self, random: UInt64) -> None:
        """Draw a critical path per solution and list its N5 moves in ``arrays.move_*``.

        Parameters
        ----------
        random
            One generator state per solution, see :func:`random_states`; advanced in place.
        """
        self._run(moves_range, random)

    def swap(self, u: npt.ArrayLike, v: npt.ArrayLike) -> None:
        """Swap adjacent operations, one pair per solution (-1 leaves a solution as it is).

        ``v[b]`` follows ``u[b]`` on their machine now and precedes it afterwards. Order, EST, tails
        and makespan are exact afterwards; a swap that would make a cycle raises
        :class:`CycleError` and leaves that solution unchanged.
        """
        first, second = np.asarray(u, dtype=np.int32), np.asarray(v, dtype=np.int32)
        g = self.arrays
        chosen = np.flatnonzero(first >= 0)
        if np.any(g.machine_succ[first[chosen]] != second[chosen]):
            raise UsageError("only operations that follow each other on a machine can be swapped")
        if np.any(g.job[first[chosen]] == g.job[second[chosen]]):
            raise UsageError("two operations of one job are never swapped")
        stuck = self._run(swap_range, first, second)
        if stuck >= 0:
            raise CycleError(f"swapping {first[stuck]} and {second[stuck]} makes a cycle")

    def machine_orders(self, b: int) -> list[list[int]]:
        """Operations of each machine of one solution in processing order, instance numbering."""
        g = self.arrays
        lo, hi = int(g.offset[b]), int(g.offset[b + 1])
        result: list[list[int]] = [[] for _ in range(self.instances[b].num_machines)]
        for x in g.order[lo:hi].tolist():
            result[g.machine[x]].append(x - lo)
        return result

    def schedule(self, b: int) -> Schedule:
        """The schedule of one solution: everything at its earliest start."""
        g = self.arrays
        return Schedule.from_starts(self.instances[b], g.est[g.offset[b] : g.offset[b + 1]].copy())

    def _link(self, b: int, orders: Sequence[Sequence[int]]) -> None:
        g, instance = self.arrays, self.instances[b]
        lo = int(g.offset[b])
        listed = np.concatenate([np.asarray(o, dtype=np.int64) for o in orders])
        owner = np.repeat(np.arange(len(orders)), [len(o) for o in orders])
        if (
            len(listed) != instance.num_operations
            or not np.array_equal(np.sort(listed), np.arange(instance.num_operations))
            or not np.array_equal(instance.machines[listed], owner)
        ):
            raise UsageError("machine orders must list every operation once, on its own machine")
        same = owner[1:] == owner[:-1]
        before, after = listed[:-1][same] + lo, listed[1:][same] + lo
        g.machine_succ[before] = after
        g.machine_pred[after] = before

    def _run(self, function: Any, *extra: Any) -> int:
        """Run a compiled function over all solutions; return the number it stopped at, or -1."""
        announce_compilation(function)
        if self._pool is None or len(self._pieces) == 1:
            return int(function(self.arrays, 0, len(self), *extra))
        futures = [
            self._pool.submit(function, self.arrays, begin, end, *extra)
            for begin, end in self._pieces[1:]
        ]
        found = [int(function(self.arrays, *self._pieces[0], *extra))]
        found += [int(future.result()) for future in futures]
        return max(found)


def random_states(count: int, rng: np.random.Generator) -> UInt64:
    """Seed one small generator per solution from a NumPy generator."""
    return rng.integers(0, 2**64, size=count, dtype=np.uint64)


def _cut(offset: Int64, threads: int) -> list[tuple[int, int]]:
    """Cut the batch into at most ``threads`` runs of solutions with about equal work."""
    b = len(offset) - 1
    wanted = offset[-1] * np.arange(1, max(1, min(threads, b))) / max(1, min(threads, b))
    cuts = sorted({0, b, *np.searchsorted(offset, wanted).tolist()})
    return list(pairwise(cuts))


_POOLS: dict[int, ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor | None:
    """One pool per thread count, shared by all batches: threads start once."""
    if threads <= 1:
        return None
    if threads not in _POOLS:
        _POOLS[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="tbgat-graph")
    return _POOLS[threads]
