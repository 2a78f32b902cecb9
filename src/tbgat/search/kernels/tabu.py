"""The tabu walk on N7 moves: one compiled loop, called in chunks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: tables and whole numbers throughout.

from __future__ import annotations

from tbgat.graph.compiled import lean_kernel as kernel
from tbgat.search.kernels.arrays import AFTER, BEFORE, FOUND, LOCAL, ORDER, PATH, RANK, makespan_of
from tbgat.search.kernels.insertion import move_before, move_behind, update_done, update_todo
from tbgat.search.kernels.moves import (
    critical_path,
    draw,
    estimate_before,
    estimate_behind,
    may_go_before,
    may_go_behind,
)

__all__ = ["walk"]

# What the walk counts: moves made, move of the last gain, best and present makespan of this start,
# best makespan anywhere, entries in the log, and scratch for the choice of a move.
STEP, GAIN, BEST, PRESENT, RECORD, LOGGED, VALUE, MOVE, TIES, SEEN = range(10)
COUNTERS = 10

# Why it returned.
PAUSED, STALE, GOAL, STUCK = range(4)

_NONE = 1 << 62


@kernel
def walk(shop, state, arcs, counters, log, best_order, random, moves, patience, goal, tenure):
    """Make up to ``moves`` moves, each the best of N7 by estimate that is not tabu.

    ``arcs[x, k]`` is the move up to which operation ``x`` may not be put before the ``k``-th
    operation of its machine again. Returns ``PAUSED`` after all moves (or with a full log),
    ``STALE`` after ``patience`` moves without a gain, ``GOAL`` with the record at or below
    ``goal``, ``STUCK`` where there is no move.
    """
    n = shop.shape[1] - 1
    for _ in range(moves):
        if counters[RECORD] <= goal:
            return GOAL
        if counters[STEP] - counters[GAIN] >= patience:
            return STALE
        if counters[LOGGED] == log.shape[0]:
            return PAUSED
        if not _choose(shop, state, arcs, counters, random):
            return STUCK
        counters[STEP] += 1
        move = counters[MOVE]
        i, j, behind = move >> 32, (move >> 1) & 0x7FFFFFFF, move & 1
        until = counters[STEP] + tenure + draw(random, tenure)
        _make_tabu(shop, state, arcs, i, j, behind, until)
        u, v = state[PATH, i], state[PATH, j]
        if behind:
            first = state[AFTER, u]
            move_behind(shop, state, u, v)
            update_done(shop, state, state[RANK, first])
            update_todo(shop, state, state[RANK, u])
        else:
            last = state[BEFORE, v]
            move_before(shop, state, u, v)
            update_done(shop, state, state[RANK, v])
            update_todo(shop, state, state[RANK, last])
        makespan = makespan_of(shop, state)
        counters[PRESENT] = makespan
        if makespan < counters[BEST]:
            counters[BEST] = makespan
            counters[GAIN] = counters[STEP]
            for k in range(n):
                best_order[k] = state[ORDER, k]
            if makespan < counters[RECORD]:
                counters[RECORD] = makespan
                log[counters[LOGGED], 0] = counters[STEP]
                log[counters[LOGGED], 1] = makespan
                counters[LOGGED] += 1
    return GOAL if counters[RECORD] <= goal else PAUSED


@kernel
def _choose(shop, state, arcs, counters, random):
    """Choose a move on the blocks of a random critical path; False when there is none.

    N7 (Zhang et al. 2007): the first operation of a block goes behind any other of it and any other
    goes before the first; any goes behind the last, and the last goes before any other. Nothing is
    gained at the outer end of the first and of the last block of the path.
    """
    n = shop.shape[1] - 1
    counters[VALUE] = _NONE
    counters[SEEN] = 0
    start = critical_path(shop, state, counters[PRESENT], random)
    a = start
    while a < n:
        b = a
        while b + 1 < n and state[AFTER, state[PATH, b]] == state[PATH, b + 1]:
            b += 1
        inner = a
        if b > a and a > start:
            inner = a + 1
            for k in range(a + 1, b + 1):
                _weigh(shop, state, arcs, counters, random, a, k, 1)
            for k in range(a + 2, b + 1):
                _weigh(shop, state, arcs, counters, random, a, k, 0)
        if b > a and b < n - 1:
            for k in range(inner, b):
                _weigh(shop, state, arcs, counters, random, k, b, 1)
            for k in range(inner, b - 1):
                _weigh(shop, state, arcs, counters, random, k, b, 0)
        a = b + 1
    if counters[SEEN] == 0:
        return False
    if counters[VALUE] == _NONE:
        counters[MOVE] = state[FOUND, draw(random, min(counters[SEEN], n + 1))]
    return True


@kernel
def _weigh(shop, state, arcs, counters, random, i, j, behind):
    """Estimate one candidate and keep it if it is the best allowed so far."""
    limit = counters[VALUE]
    if behind:
        if not may_go_behind(shop, state, i, j):
            return
        value = estimate_behind(state, i, j, limit)
    else:
        if not may_go_before(shop, state, i, j):
            return
        value = estimate_before(state, i, j, limit)
    move = (i << 32) | (j << 1) | behind
    state[FOUND, min(counters[SEEN], shop.shape[1] - 1)] = move
    counters[SEEN] += 1
    if value > limit:
        return
    if value >= counters[BEST] and _is_tabu(shop, state, arcs, i, j, behind, counters[STEP]):
        return
    if value == limit:
        counters[TIES] += 1
        if draw(random, counters[TIES]) != 0:
            return
    else:
        counters[TIES] = 1
    counters[VALUE] = value
    counters[MOVE] = move


@kernel
def _is_tabu(shop, state, arcs, i, j, behind, now):
    """Whether the move would restore a pair that was reversed a short while ago."""
    if behind:
        local = shop[LOCAL, state[PATH, i]]
        for k in range(i + 1, j + 1):
            if arcs[state[PATH, k], local] > now:
                return True
    else:
        v = state[PATH, j]
        for k in range(i, j):
            if arcs[v, shop[LOCAL, state[PATH, k]]] > now:
                return True
    return False


@kernel
def _make_tabu(shop, state, arcs, i, j, behind, until):
    """Forbid for a while to restore the pairs this move reverses."""
    if behind:
        u = state[PATH, i]
        for k in range(i + 1, j + 1):
            arcs[u, shop[LOCAL, state[PATH, k]]] = until
    else:
        local = shop[LOCAL, state[PATH, j]]
        for k in range(i, j):
            arcs[state[PATH, k], local] = until
