"""Method ``tspr``: compiled tabu search on N7 moves with path relinking between good solutions.

One thread and a limit in steps give the same result again; several threads share a population as
they go and do not.
"""

from __future__ import annotations

from functools import cache

from tbgat.errors import UsageError
from tbgat.graph.compiled import announce_compilation
from tbgat.instance import Instance
from tbgat.search.kernels import arrays, construct, relink, tabu
from tbgat.search.local_search import local_search
from tbgat.search.pool import Pool
from tbgat.search.relinking import RelinkingWalk, Settings, order_of
from tbgat.search.task import Outcome, Task

__all__ = ["make_walks", "prepare", "solve"]


@cache
def prepare() -> None:
    """Compile what the search needs, or load it."""
    announce_compilation(tabu.walk, arrays.load_order, construct.build_order, relink.walk_towards)
    from tbgat.solvers import make_task

    jobs = [[(0, 3), (1, 2)], [(1, 2), (0, 4)], [(0, 1), (1, 5)]]
    task = make_task(Instance(jobs), "tspr", steps=200, seed=0)
    settings = Settings(cutoff=10)
    local_search(task, make_walks(task, Pool(arrays.shop_of(task.instance)), settings))


def solve(task: Task, cutoff: int = Settings.cutoff) -> Outcome:
    """Search until a criterion says stop.

    ``cutoff`` is the number of moves without gain after which one tabu search gives way to the
    next.
    """
    if cutoff < 1:
        raise UsageError(f"cutoff must be 1 or more, got {cutoff}")
    settings = Settings(cutoff=int(cutoff))
    pool = Pool(arrays.shop_of(task.instance))
    walks = make_walks(task, pool, settings)
    return local_search(task, walks)


def make_walks(task: Task, pool: Pool, settings: Settings, count: int = 0) -> list[RelinkingWalk]:
    """One walk for each thread; the first begins with the task's start, the others afresh."""
    shop = arrays.shop_of(task.instance)
    start = order_of(task.instance, task.start)
    return [
        RelinkingWalk(
            task.instance, shop, pool, task.rng(number), start if number == 0 else None, settings
        )
        for number in range(count or task.threads)
    ]
