"""First solutions for a population: randomised active schedules."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: tables and whole numbers throughout.

from __future__ import annotations

from tbgat.graph.compiled import lean_kernel as kernel
from tbgat.search.kernels.arrays import (
    AHEAD,
    DONE,
    DURATION,
    HELD,
    JOB_AFTER,
    LAST,
    MACHINE,
    PATH,
)
from tbgat.search.kernels.moves import draw

__all__ = ["build_order"]


@kernel
def build_order(shop, state, order, noise, random):
    """Write the linear order of an active schedule (Giffler and Thompson 1960) to ``order``.

    Among the operations that compete for a machine, most work remaining goes first, where work is
    taken with a random error of up to ``noise`` percent. The state is overwritten.
    """
    n = shop.shape[1] - 1
    jobs = shop[LAST, n]
    # Scratch, by job: next operation in PATH, time the job is free in DONE; by machine: the time it
    # is free in HELD; by operation: work from it to the end of its job in AHEAD.
    for x in range(n - 1, -1, -1):
        state[HELD, x] = 0
        rest = 0 if shop[JOB_AFTER, x] == n else state[AHEAD, x + 1]
        state[AHEAD, x] = rest + shop[DURATION, x]
    first = 0
    for j in range(jobs):
        state[DONE, j] = 0
        state[PATH, j] = first
        first = shop[LAST, j] + 1
    for i in range(n):
        machine, soonest = _next_machine(shop, state, jobs, n)
        chosen, most = -1, -1
        for j in range(jobs):
            x = state[PATH, j]
            if x == n or shop[MACHINE, x] != machine:
                continue
            start = max(state[DONE, j], state[HELD, machine])
            # An operation of length zero may start at the very time the first one could end.
            if start < soonest or start + shop[DURATION, x] == soonest:
                work = state[AHEAD, x] * (1000 + draw(random, 10 * noise + 1))
                if work > most:
                    chosen, most = j, work
        x = state[PATH, chosen]
        end = max(state[DONE, chosen], state[HELD, machine]) + shop[DURATION, x]
        state[DONE, chosen] = end
        state[HELD, machine] = end
        state[PATH, chosen] = shop[JOB_AFTER, x]
        order[i] = x


@kernel
def _next_machine(shop, state, jobs, n):
    """Find the machine on which an operation can end soonest, and when."""
    machine, soonest = -1, -1
    for j in range(jobs):
        x = state[PATH, j]
        if x == n:
            continue
        end = max(state[DONE, j], state[HELD, shop[MACHINE, x]]) + shop[DURATION, x]
        if soonest < 0 or end < soonest:
            machine, soonest = shop[MACHINE, x], end
    return machine, soonest
