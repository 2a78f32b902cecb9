"""Method ``dispatch``: one priority rule, no search."""

from __future__ import annotations

from tbgat.dispatching import DEFAULT_RULE, dispatch
from tbgat.search.result import Improvement
from tbgat.search.task import Outcome, Task

__all__ = ["solve"]


def solve(task: Task, rule: str = DEFAULT_RULE) -> Outcome:
    """Build one schedule with a rule of :mod:`tbgat.dispatching`."""
    schedule = dispatch(task.instance, rule, task.rng())
    found = Improvement(0, task.seconds(), schedule.makespan)
    return Outcome(schedule, history=(found,), story=(f"The rule {rule} built one schedule.",))
