"""Candidate moves on one critical path: their feasibility and their estimates."""

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
    JOB_AFTER,
    JOB_BEFORE,
    LAST,
    MACHINE,
    PATH,
    PATH_DURATION,
    PATH_HEAD,
    PATH_TAIL,
)
from tbgat.search.kernels.insertion import before_closes_cycle, behind_closes_cycle

__all__ = [
    "critical_path",
    "draw",
    "estimate_before",
    "estimate_behind",
    "may_go_before",
    "may_go_behind",
]


@kernel
def draw(random, below):
    """Draw a whole number from 0 to ``below - 1`` (xorshift; the state is never 0)."""
    x = random[0]
    x ^= x << 13
    x ^= (x >> 7) & 0x01FFFFFFFFFFFFFF
    x ^= x << 17
    random[0] = x
    return (((x >> 32) & 0xFFFFFFFF) * below) >> 32


@kernel
def critical_path(shop, state, makespan, random):
    """Write one critical path, chosen at random, to the end of row PATH; return where it starts."""
    n = shop.shape[1] - 1
    x = n
    seen = 0
    for j in range(shop[LAST, n]):
        last = shop[LAST, j]
        if state[DONE, last] == makespan:
            seen += 1
            if seen == 1 or draw(random, seen) == 0:
                x = last
    free = n
    while True:
        j, m = shop[JOB_BEFORE, x], state[BEFORE, x]
        head = state[DONE, j]
        free -= 1
        state[PATH, free] = x
        state[PATH_HEAD, free] = head
        state[PATH_TAIL, free] = state[AHEAD, shop[JOB_AFTER, x]]
        state[PATH_DURATION, free] = shop[DURATION, x]
        start = state[DONE, x] - shop[DURATION, x]
        if start == 0:
            return free
        if head != start:
            x = m
        elif state[DONE, m] != start:
            x = j
        else:
            x = m if draw(random, 2) == 0 else j


@kernel
def may_go_behind(shop, state, i, j):
    """Whether ``u = path[i]`` can be moved right behind ``v = path[j]``, both in one block.

    Sufficient, not necessary (Balas and Vazacopoulos 1998): a path from the job successor of ``u``
    to ``v`` would give that successor more to do than ``v`` has. Only a duration of zero, or the
    successor being ``v`` itself, leaves a tie.
    """
    v = state[PATH, j]
    if state[AHEAD, v] != state[PATH_TAIL, i]:
        return state[AHEAD, v] > state[PATH_TAIL, i]
    if shop[MACHINE, shop.shape[1] - 1]:
        return shop[JOB_AFTER, state[PATH, i]] != v
    return not behind_closes_cycle(shop, state, state[PATH, i], v)


@kernel
def may_go_before(shop, state, i, j):
    """Whether ``v = path[j]`` can be moved right before ``u = path[i]``: the mirror image."""
    u = state[PATH, i]
    if state[DONE, u] != state[PATH_HEAD, j]:
        return state[DONE, u] > state[PATH_HEAD, j]
    if shop[MACHINE, shop.shape[1] - 1]:
        return shop[JOB_BEFORE, state[PATH, j]] != u
    return not before_closes_cycle(shop, state, u, state[PATH, j])


@kernel
def estimate_behind(state, i, j, limit):
    """Estimate the makespan after moving ``path[i]`` right behind ``path[j]``.

    Heads and tails are recomputed over the resequenced operations only, with the old values of
    everything around them. For a swap this is the longest path through the two; over more
    operations it can err either way. Values above ``limit`` need not be right.
    """
    end = state[DONE, state[BEFORE, state[PATH, i]]]
    for k in range(i + 1, j + 1):
        end = max(state[PATH_HEAD, k], end) + state[PATH_DURATION, k]
        state[HELD, k] = end
    end = max(state[PATH_HEAD, i], end)
    rest = max(state[PATH_TAIL, i], state[AHEAD, state[AFTER, state[PATH, j]]])
    rest += state[PATH_DURATION, i]
    longest = end + rest
    if longest > limit:
        return longest
    for k in range(j, i, -1):
        rest = max(state[PATH_TAIL, k], rest)
        longest = max(longest, state[HELD, k] + rest)
        rest += state[PATH_DURATION, k]
    return longest


@kernel
def estimate_before(state, i, j, limit):
    """Estimate the makespan after moving ``path[j]`` right before ``path[i]``: the mirror image."""
    rest = state[AHEAD, state[AFTER, state[PATH, j]]]
    for k in range(j - 1, i - 1, -1):
        rest = max(state[PATH_TAIL, k], rest) + state[PATH_DURATION, k]
        state[HELD, k] = rest
    rest = max(state[PATH_TAIL, j], rest)
    end = max(state[PATH_HEAD, j], state[DONE, state[BEFORE, state[PATH, i]]])
    end += state[PATH_DURATION, j]
    longest = end + rest
    if longest > limit:
        return longest
    for k in range(i, j):
        end = max(state[PATH_HEAD, k], end)
        longest = max(longest, end + state[HELD, k])
        end += state[PATH_DURATION, k]
    return longest
