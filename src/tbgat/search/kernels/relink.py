"""From one solution towards another: distance and a random path of adjacent swaps."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: tables and whole numbers throughout.

from __future__ import annotations

from tbgat.graph.compiled import lean_kernel as kernel
from tbgat.search.kernels.arrays import AFTER, GROUPED, MACHINE
from tbgat.search.kernels.insertion import behind_closes_cycle, move_behind
from tbgat.search.kernels.moves import draw

__all__ = ["distance", "walk_towards"]


@kernel
def distance(shop, rank, other_rank):
    """Count the pairs of operations of one machine that two linear orders put differently.

    ``rank[x]`` is the position of operation ``x`` in the order.
    """
    n = shop.shape[1] - 1
    count = 0
    for i in range(n):
        x = shop[GROUPED, i]
        machine, first, second = shop[MACHINE, x], rank[x], other_rank[x]
        for j in range(i + 1, n):
            y = shop[GROUPED, j]
            if shop[MACHINE, y] != machine:
                break
            count += (first < rank[y]) != (second < other_rank[y])
    return count


@kernel
def walk_towards(shop, state, goal_rank, swaps, random):
    """Make up to ``swaps`` swaps of neighbours on a machine, each one step closer to the goal.

    As long as the two differ, some such swap closes no cycle: sort the linear order into the goal's
    by exchanging neighbours, and the first exchange on one machine is one. Heads and tails are left
    as they were. Returns the number of swaps made.
    """
    n = shop.shape[1] - 1
    made = 0
    tries = 0
    while made < swaps and tries < 64 * n:
        tries += 1
        x = draw(random, n)
        y = state[AFTER, x]
        if y == n or goal_rank[x] < goal_rank[y] or behind_closes_cycle(shop, state, x, y):
            continue
        move_behind(shop, state, x, y)
        made += 1
    return made
