"""The two tables the compiled local search works on, and how they are filled.

A solution is a *linear order* of all operations in which every operation stands after its job and
machine predecessors. The order of each machine is the linear order read on that machine alone, so
one array of operations says everything and can never be contradictory.

Everything lives in two whole-number tables with one column per operation, and rows named below:
passing two arrays to a compiled function is cheap, passing twenty is not. The last column, ``n``,
stands for "no operation": it lasts 0, ends at 0 and has nothing left to do.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: tables and whole numbers throughout.

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tbgat.graph.compiled import lean_kernel as kernel
from tbgat.instance import Instance

__all__ = ["Table", "blank_state", "evaluate", "load_order", "makespan_of", "shop_of"]

Table = npt.NDArray[np.int64]

# Operations are never negative. The compiler cannot know, and prepares to count from the end of a
# row; ``x & ID`` tells it, which makes the innermost loops a third faster.
ID = 0x7FFFFFFF

# Rows of the shop, which never changes.
DURATION, JOB_BEFORE, JOB_AFTER, MACHINE, LOCAL, GROUPED, LAST = range(7)
SHOP_ROWS = 7
# LOCAL numbers the operations of each machine, GROUPED lists all operations machine by machine,
# LAST the last operation of each job. Column n of these says something else: of LAST the number of
# jobs, of LOCAL the size of the largest machine, of MACHINE whether all durations are positive.

# Rows of the state. DONE is the earliest end of an operation; AHEAD the longest path from its start
# to the end of everything: an operation is critical when DONE + AHEAD - DURATION is the makespan.
# ORDER is the linear order and RANK its inverse; BEFORE, AFTER and PLACE are the machine's order.
BEFORE, AFTER, PLACE, DONE, AHEAD, ORDER, RANK = range(7)
# Scratch: marks of a scan and values of a move; a critical path, and for each of its operations the
# end of its job predecessor, what its job successor has to do, and its duration; candidate moves.
MARK, HELD, PATH, PATH_HEAD, PATH_TAIL, PATH_DURATION, FOUND = range(7, 14)
STATE_ROWS = 14


def shop_of(instance: Instance) -> Table:
    """Lay out an instance for the kernels."""
    n = instance.num_operations
    shop = np.zeros((SHOP_ROWS, n + 1), dtype=np.int64)
    first, last = instance.job_offsets[:-1], instance.job_offsets[1:] - 1
    # Machines that no job visits are left out: rows have room for one entry per operation.
    _, machines, loads = np.unique(instance.machines, return_inverse=True, return_counts=True)
    grouped = np.argsort(machines, kind="stable")
    shop[DURATION, :n] = instance.durations
    shop[JOB_BEFORE, :n] = np.arange(-1, n - 1)
    shop[JOB_AFTER, :n] = np.arange(1, n + 1)
    shop[JOB_BEFORE, first] = n
    shop[JOB_AFTER, last] = n
    shop[JOB_BEFORE, n] = shop[JOB_AFTER, n] = n
    shop[MACHINE, :n] = machines
    shop[MACHINE, n] = int(instance.durations.min() > 0)
    shop[GROUPED, :n] = grouped
    shop[LOCAL, grouped] = np.arange(n) - np.repeat(np.cumsum(loads) - loads, loads)
    shop[LOCAL, n] = loads.max()
    shop[LAST, : instance.num_jobs] = last
    shop[LAST, n] = instance.num_jobs
    return shop


def blank_state(shop: Table) -> Table:
    """Space for one solution; :func:`load_order` fills it."""
    return np.zeros((STATE_ROWS, shop.shape[1]), dtype=np.int64)


@kernel
def load_order(shop, state, order):
    """Take over a linear order, compute everything from it and return the makespan."""
    n = shop.shape[1] - 1
    for x in range(n + 1):
        state[HELD, x] = n
        state[AFTER, x] = n
        state[BEFORE, x] = n
        state[PLACE, x] = 0
        state[MARK, x] = 0
    for i in range(n):
        x = order[i]
        state[ORDER, i] = x
        state[RANK, x] = i
        m = shop[MACHINE, x]
        b = state[HELD, m]
        state[BEFORE, x] = b
        if b != n:
            state[AFTER, b] = x
            state[PLACE, x] = state[PLACE, b] + 1
        state[HELD, m] = x
    state[RANK, n] = n
    state[ORDER, n] = n
    return evaluate(shop, state)


@kernel
def evaluate(shop, state):
    """Compute all heads and tails afresh and return the makespan."""
    n = shop.shape[1] - 1
    state[DONE, n] = 0
    state[AHEAD, n] = 0
    for i in range(n):
        x = state[ORDER, i]
        state[DONE, x] = shop[DURATION, x] + max(
            state[DONE, shop[JOB_BEFORE, x]], state[DONE, state[BEFORE, x]]
        )
    for i in range(n - 1, -1, -1):
        x = state[ORDER, i]
        state[AHEAD, x] = shop[DURATION, x] + max(
            state[AHEAD, shop[JOB_AFTER, x]], state[AHEAD, state[AFTER, x]]
        )
    return makespan_of(shop, state)


@kernel
def makespan_of(shop, state):
    """Read the makespan off the ends of the jobs."""
    longest = 0
    for j in range(shop[LAST, shop.shape[1] - 1]):
        longest = max(longest, state[DONE, shop[LAST, j]])
    return longest
