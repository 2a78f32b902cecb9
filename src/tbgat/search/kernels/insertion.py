"""Insertion moves: move one operation over its machine neighbours, and keep everything up to date.

``move_behind`` puts ``u`` right behind ``v``, ``move_before`` puts ``v`` right before ``u``, where
``u`` stands before ``v`` on their machine. Whether that would close a cycle is for the caller to
know, from the conditions in :mod:`tbgat.search.kernels.moves` or from the exact scans here.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: tables and whole numbers throughout.

from __future__ import annotations

from tbgat.graph.compiled import lean_kernel as kernel
from tbgat.search.kernels.arrays import (
    AFTER,
    AHEAD,
    BEFORE,
    DONE,
    DURATION,
    HELD,
    ID,
    JOB_AFTER,
    JOB_BEFORE,
    MARK,
    ORDER,
    PLACE,
    RANK,
)

__all__ = ["before_closes_cycle", "behind_closes_cycle", "move_before", "move_behind"]


@kernel
def behind_closes_cycle(shop, state, u, v):
    """Whether a path leaves ``u`` through its job successor and reaches ``v``: exact."""
    n = shop.shape[1] - 1
    start, last = shop[JOB_AFTER, u], state[RANK, v]
    if start == n or state[RANK, start] > last:
        return False
    first = state[RANK, start]
    state[MARK, start] = 1
    for i in range(first + 1, last + 1):
        x = state[ORDER, i]
        state[MARK, x] = state[MARK, shop[JOB_BEFORE, x]] | state[MARK, state[BEFORE, x]]
    found = state[MARK, v] == 1
    for i in range(first, last + 1):
        state[MARK, state[ORDER, i]] = 0
    return found


@kernel
def before_closes_cycle(shop, state, u, v):
    """Whether a path from ``u`` enters ``v`` through its job predecessor: exact."""
    n = shop.shape[1] - 1
    start, first = shop[JOB_BEFORE, v], state[RANK, u]
    if start == n or state[RANK, start] < first:
        return False
    last = state[RANK, start]
    state[MARK, start] = 1
    for i in range(last - 1, first - 1, -1):
        x = state[ORDER, i]
        state[MARK, x] = state[MARK, shop[JOB_AFTER, x]] | state[MARK, state[AFTER, x]]
    found = state[MARK, u] == 1
    for i in range(first, last + 1):
        state[MARK, state[ORDER, i]] = 0
    return found


@kernel
def move_behind(shop, state, u, v):
    """Put ``u`` right behind ``v`` in the machine order and in the linear order."""
    n = shop.shape[1] - 1
    a, first, c = state[BEFORE, u], state[AFTER, u], state[AFTER, v]
    x = u
    while x != v:
        x = state[AFTER, x]
        state[PLACE, x] -= 1
    state[PLACE, u] = state[PLACE, v] + 1
    state[AFTER, a] = first
    state[BEFORE, first] = a
    state[AFTER, v] = u
    state[BEFORE, u] = v
    state[AFTER, u] = c
    state[BEFORE, c] = u
    state[BEFORE, n] = n
    state[AFTER, n] = n

    # Whatever u reaches must follow it behind v; the rest of the stretch closes up.
    begin, end = state[RANK, u], state[RANK, v]
    state[MARK, u] = 1
    state[HELD, 0] = u
    count = 1
    free = begin
    for i in range(begin + 1, end + 1):
        x = state[ORDER, i] & ID
        if state[MARK, shop[JOB_BEFORE, x] & ID] | state[MARK, state[BEFORE, x] & ID]:
            state[MARK, x] = 1
            state[HELD, count] = x
            count += 1
        else:
            state[ORDER, free] = x
            state[RANK, x] = free
            free += 1
    for k in range(count):
        x = state[HELD, k]
        state[MARK, x] = 0
        state[ORDER, free] = x
        state[RANK, x] = free
        free += 1


@kernel
def move_before(shop, state, u, v):
    """Put ``v`` right before ``u`` in the machine order and in the linear order."""
    n = shop.shape[1] - 1
    a, last, c = state[BEFORE, u], state[BEFORE, v], state[AFTER, v]
    x = v
    while x != u:
        x = state[BEFORE, x]
        state[PLACE, x] += 1
    state[PLACE, v] = state[PLACE, u] - 1
    state[AFTER, a] = v
    state[BEFORE, v] = a
    state[AFTER, v] = u
    state[BEFORE, u] = v
    state[AFTER, last] = c
    state[BEFORE, c] = last
    state[BEFORE, n] = n
    state[AFTER, n] = n

    # Whatever reaches v must go before u with it; the rest of the stretch closes up.
    begin, end = state[RANK, u], state[RANK, v]
    state[MARK, v] = 1
    state[HELD, 0] = v
    count = 1
    free = end
    for i in range(end - 1, begin - 1, -1):
        x = state[ORDER, i] & ID
        if state[MARK, shop[JOB_AFTER, x] & ID] | state[MARK, state[AFTER, x] & ID]:
            state[MARK, x] = 1
            state[HELD, count] = x
            count += 1
        else:
            state[ORDER, free] = x
            state[RANK, x] = free
            free -= 1
    for k in range(count):
        x = state[HELD, k]
        state[MARK, x] = 0
        state[ORDER, free] = x
        state[RANK, x] = free
        free -= 1


@kernel
def update_done(shop, state, first):
    """Bring heads up to date from position ``first`` of the linear order on."""
    n = shop.shape[1] - 1
    for i in range(first, n):
        x = state[ORDER, i] & ID
        by_job = state[DONE, shop[JOB_BEFORE, x] & ID]
        by_machine = state[DONE, state[BEFORE, x] & ID]
        state[DONE, x] = shop[DURATION, x] + (by_job if by_job > by_machine else by_machine)


@kernel
def update_todo(shop, state, last):
    """Bring tails up to date from position ``last`` of the linear order back to its start."""
    for i in range(last, -1, -1):
        x = state[ORDER, i & ID] & ID
        by_job = state[AHEAD, shop[JOB_AFTER, x] & ID]
        by_machine = state[AHEAD, state[AFTER, x] & ID]
        state[AHEAD, x] = shop[DURATION, x] + (by_job if by_job > by_machine else by_machine)
