"""Method ``tspr``: compiled tabu search on N7 moves with path relinking between good solutions.

One thread and a limit in steps give the same result again; several threads share a population as
they go and do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from tbgat.errors import UsageError
from tbgat.graph.compiled import announce_compilation
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.kernels import arrays, construct, relink, tabu
from tbgat.search.local_search import local_search
from tbgat.search.pool import Pool
from tbgat.search.relinking import RelinkingWalk, Settings, order_of
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Outcome, Task

__all__ = ["describe", "make_walks", "prepare", "solve"]


@cache
def prepare() -> None:
    """Compile what the search needs, or load it."""
    announce_compilation(tabu.walk, arrays.load_order, construct.build_order, relink.walk_towards)
    shop = Instance([[(0, 3), (1, 2)], [(1, 2), (0, 4)], [(0, 1), (1, 5)]])
    pool = Pool(arrays.shop_of(shop))
    start = Schedule.from_machine_orders(shop, [[0, 3, 4], [1, 2, 5]])
    task = Task(shop, "tspr", MaxSteps(0), 0, start)
    (walk,) = make_walks(task, pool, Settings(cutoff=10))
    # No bound to stop it: everything is called at least once.
    walk.advance(300, -1)


def solve(task: Task, cutoff: int | None = None) -> Outcome:
    """Search until a criterion says stop.

    ``cutoff`` is the number of moves without gain after which one tabu search gives way to the
    next; by default it grows with the instance.
    """
    if cutoff is not None and cutoff < 1:
        raise UsageError(f"cutoff must be 1 or more, got {cutoff}")
    walks = make_walks(task, Pool(arrays.shop_of(task.instance)), Settings(cutoff=cutoff))
    outcome = local_search(task, walks)
    return replace(outcome, story=(describe(task.instance, walks),))


def make_walks(task: Task, pool: Pool, settings: Settings) -> list[RelinkingWalk]:
    """One walk for each thread; the first begins with the task's start, the others afresh.

    They share the pool, except under a limit in steps: then each has its own, so that the result
    does not depend on which thread comes first.
    """
    shop = arrays.shop_of(task.instance)
    start = order_of(task.instance, task.start)
    apart = math.isfinite(task.stop.steps_left(task.progress(0, task.start.makespan)))
    return [
        RelinkingWalk(
            task.instance,
            shop,
            Pool(shop) if apart and number else pool,
            task.rng(number),
            start if number == 0 else None,
            settings,
        )
        for number in range(task.threads)
    ]


def describe(instance: Instance, walks: Sequence[RelinkingWalk]) -> str:
    """Tell what the walks did, and what this shop asked of the moves."""
    starts = sum(walk.fresh for walk in walks)
    children = sum(walk.relinked for walk in walks)
    moves = sum(walk.moves for walk in walks)
    text = (
        f"Tabu search on N7 moves: {len(walks)} thread(s), {moves} moves, {starts} start(s), "
        f"{children} by path relinking."
    )
    if instance.durations.min() == 0:
        text += " Durations of 0: a tie is checked for a cycle, move by move."
    return text
