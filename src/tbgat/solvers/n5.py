"""What the walks over N5 share: their memory, how they note a best, and their Python side.

``g`` is the :class:`~tbgat.graph.arrays.Arrays` of a batch of one solution, ``t`` the
:class:`Memory` of a walk.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described in Arrays and Memory.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tbgat.graph.compiled import inner_kernel, random_below
from tbgat.graph.state import GraphBatch, random_states
from tbgat.graph.swap import follow_order, set_makespan, swap_adjacent
from tbgat.schedule import Schedule
from tbgat.search.task import Task

__all__ = [
    "BEST",
    "DONE",
    "OWN",
    "PROVED",
    "STEP",
    "Memory",
    "N5Walk",
    "load_order",
    "must_pause",
    "record",
    "shake",
    "swap_on_path",
    "walks",
]

# Places in ``Memory.state``; from OWN on they belong to the method.
STEP, BEST, LOGGED, OWN = range(4)
# Why a compiled loop came back.
DONE, PROVED = range(2)

LOG_SIZE = 1024
NO_MOVE = "no N5 move is left: the critical path is the work of one machine or of one job"


class Memory(NamedTuple):
    """What a walk remembers from one chunk of steps to the next."""

    state: npt.NDArray[np.int64]
    setting: npt.NDArray[np.int64]  # constants of the method
    random: npt.NDArray[np.uint64]  # one generator
    best_start: npt.NDArray[np.int64]  # start times of the best schedule
    log: npt.NDArray[np.int64]  # step and makespan of new bests, LOGGED of them
    kept_order: npt.NDArray[np.int32]  # solutions kept, as linear orders
    kept_makespan: npt.NDArray[np.int64]
    moved: npt.NDArray[np.int32]  # how often an operation was swapped
    path: npt.NDArray[np.int32]  # scratch from here on
    buffer: npt.NDArray[np.int32]
    head: npt.NDArray[np.int64]
    last_on: npt.NDArray[np.int32]  # per machine
    free_from: npt.NDArray[np.int64]  # per machine
    try_u: npt.NDArray[np.int32]  # moves to try
    try_v: npt.NDArray[np.int32]


@inner_kernel
def record(g, t):
    """Note the solution as the best so far."""
    for x in range(g.offset[1]):
        t.best_start[x] = g.est[x]
    t.state[BEST] = g.makespan[0]
    at = t.state[LOGGED]
    t.log[at, 0] = t.state[STEP]
    t.log[at, 1] = g.makespan[0]
    t.state[LOGGED] = at + 1


@inner_kernel
def must_pause(t, target):
    """Whether the loop must go back to Python: the target is met, or the log is full."""
    return t.state[BEST] <= target or t.state[LOGGED] == len(t.log)


@inner_kernel
def load_order(g, t, row):
    """Take over the solution kept in ``row``: machines run as the linear order says."""
    follow_order(g, 0, t.kept_order[row], t.last_on)
    set_makespan(g, 0)
    g.swaps[0] = 0


@inner_kernel
def shake(g, t):
    """Swap some adjacent pair, critical or not; False if all neighbours are of one job.

    For shops with recirculation or zero durations, where N5 can be empty without proving anything.
    A legal pair exists if any two neighbours are of different jobs: of all such pairs take one
    whose distance in the topological order is smallest; a path between them besides their own arc
    would change from job to job on a pair that is closer still.
    """
    n = g.offset[1]
    first = random_below(t.random, 0, n)
    for k in range(n):
        u = g.order[(first + k) % n]
        v = g.machine_succ[u]
        if v >= 0 and g.job[u] != g.job[v] and swap_adjacent(g, 0, u, v, t.buffer):
            return True
    return False


@inner_kernel
def swap_on_path(g, t):
    """Swap two neighbours on the critical path drawn last, at random; False if none may be."""
    length = g.path_length[0]
    pairs = 0
    for i in range(length - 1):
        pairs += g.machine_succ[g.path[i]] == g.path[i + 1]
    for _ in range(2 * pairs):
        skip = random_below(t.random, 0, pairs)
        for i in range(length - 1):
            u = g.path[i]
            v = g.path[i + 1]
            if g.machine_succ[u] != v:
                continue
            if skip == 0:
                if g.job[u] != g.job[v] and swap_adjacent(g, 0, u, v, t.buffer):
                    return True
                break
            skip -= 1
    return False


class N5Walk:
    """A compiled walk over N5, the Python side (see :class:`tbgat.search.local_search.Walk`).

    Parameters
    ----------
    task
        The task; its start is the first solution.
    number
        Which of the walks of this task it is; decides its random numbers.
    steps
        Compiled ``(g, t, max_steps, target) -> (steps made, why it came back)``.
    setting
        Constants for it, found in ``t.setting``.
    state
        First values of its own places in ``t.state``.
    kept
        How many solutions it may keep.
    memory
        How many swaps back a swap is remembered.
    """

    def __init__(
        self,
        task: Task,
        number: int,
        steps: Callable[..., tuple[int, int]],
        *,
        setting: Sequence[int] = (),
        state: Sequence[int] = (),
        kept: int = 1,
        memory: int = 1,
    ) -> None:
        instance = task.instance
        self._instance = instance
        self._steps = steps
        self._graph = GraphBatch.from_schedules([instance], [task.start], memory=memory).arrays
        n = instance.num_operations
        self._memory = Memory(
            state=np.array([0, task.start.makespan, 0, *state], dtype=np.int64),
            setting=np.array([*setting, 0], dtype=np.int64),
            random=random_states(1, task.rng(number)),
            best_start=task.start.starts(instance),
            log=np.zeros((LOG_SIZE, 2), dtype=np.int64),
            kept_order=np.zeros((kept, n), dtype=np.int32),
            kept_makespan=np.zeros(kept, dtype=np.int64),
            moved=np.zeros(n, dtype=np.int32),
            path=np.zeros(n, dtype=np.int32),
            buffer=np.zeros(n, dtype=np.int32),
            head=np.zeros(n, dtype=np.int64),
            last_on=np.zeros(instance.num_machines, dtype=np.int32),
            free_from=np.zeros(instance.num_machines, dtype=np.int64),
            try_u=np.zeros(n, dtype=np.int32),
            try_v=np.zeros(n, dtype=np.int32),
        )
        self._found: list[tuple[int, int]] = []
        self.proof = ""

    @property
    def best(self) -> int:
        """Smallest makespan so far."""
        return int(self._memory.state[BEST])

    def advance(self, max_steps: int, target: int) -> int:
        """Make at most ``max_steps`` steps and say how many were made."""
        total = 0
        while total < max_steps and not self.proof and self.best > target:
            made, why = self._steps(self._graph, self._memory, max_steps - total, target)
            total += made
            self._empty_log()
            if why == PROVED:
                self.proof = NO_MOVE
        return total

    def improvements(self) -> list[tuple[int, int]]:
        """Return step and makespan of every new best since the last call."""
        found, self._found = self._found, []
        return found

    def schedule(self) -> Schedule:
        """Return the best schedule so far."""
        return Schedule.from_starts(self._instance, self._memory.best_start.copy())

    def _empty_log(self) -> None:
        count = int(self._memory.state[LOGGED])
        self._found += [(int(step), int(value)) for step, value in self._memory.log[:count]]
        self._memory.state[LOGGED] = 0


def walks(task: Task, steps: Callable[..., Any], **options: Any) -> list[N5Walk]:
    """Make one walk per thread of the task, each with random numbers of its own."""
    return [N5Walk(task, number, steps, **options) for number in range(task.threads)]
