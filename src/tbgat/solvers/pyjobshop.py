"""Method ``pyjobshop``: PyJobShop with its default solver, as a comparison for the others.

It tells only of its end, so the history has two entries, and limits other than seconds (and the
threads) mean nothing to it.
"""

from __future__ import annotations

import math

from tbgat.errors import MissingExtraError, UsageError
from tbgat.formats.interchange import to_pyjobshop
from tbgat.schedule import Schedule
from tbgat.search.result import Improvement
from tbgat.search.task import Outcome, Task

__all__ = ["prepare", "solve"]


def prepare() -> None:
    """Import PyJobShop, or say which extra has it."""
    try:
        import pyjobshop  # noqa: F401  (only to have it loaded)
    except ImportError:
        raise MissingExtraError("the method pyjobshop", "bench") from None


def solve(task: Task) -> Outcome:
    """Model the instance in PyJobShop and solve it with OR-Tools, its default."""
    prepare()
    from pyjobshop.Result import SolveStatus

    instance, start = task.instance, task.start
    if not math.isfinite(task.stop.seconds_left(task.progress(0, start.makespan))):
        raise UsageError("the method pyjobshop needs a limit in seconds")
    model = to_pyjobshop(instance)
    # Building the model is part of the time, as it is for every other method.
    left = task.stop.seconds_left(task.progress(0, start.makespan))
    result = model.solve(
        time_limit=max(left, 0.0),
        display=False,
        num_workers=task.threads,
        random_seed=task.seed % 2**31,
        catch_sigint_signal=False,
    )
    history = [Improvement(0, 0.0, start.makespan)]
    schedule, bound = start, 0
    if result.status in (SolveStatus.OPTIMAL, SolveStatus.FEASIBLE):
        bound = math.ceil(result.lower_bound - 1e-6)
        found = Schedule.from_starts(instance, [scheduled.start for scheduled in result.best.tasks])
        if found.makespan < start.makespan:
            schedule = found
            history.append(Improvement(0, task.seconds(), found.makespan))
    proved = result.status == SolveStatus.OPTIMAL
    return Outcome(
        schedule=schedule,
        history=tuple(history),
        lower_bound=bound,
        proof="proved by PyJobShop" if proved else "",
        stopped="optimal" if proved else "seconds",
        story=(f"PyJobShop ran on {task.threads} threads, bound {bound}.",),
    )
