"""Method ``pyjobshop``: PyJobShop with its default solver, as a comparison for the others.

PyJobShop writes the model and CP-SAT solves it. CP-SAT is called here as PyJobShop calls it (with
its defaults, a time limit and a number of workers), only that someone listens to its solutions.
"""

from __future__ import annotations

import math

from tbgat.errors import MissingExtraError, UsageError
from tbgat.formats.interchange import to_pyjobshop
from tbgat.search.task import Outcome, Task
from tbgat.solvers import cpsat

__all__ = ["prepare", "solve"]


def prepare() -> None:
    """Import PyJobShop, or say which extra has it."""
    try:
        import pyjobshop.solvers.ortools  # noqa: F401  (only to have it loaded)
    except ImportError:
        raise MissingExtraError("the method pyjobshop", "bench") from None


def solve(task: Task) -> Outcome:
    """Model the instance in PyJobShop and solve it with OR-Tools, its default."""
    prepare()
    from pyjobshop.solvers.ortools import CPModel

    if not math.isfinite(task.stop.seconds_left(task.progress(0, task.start.makespan))):
        raise UsageError("the method pyjobshop needs a limit in seconds")
    written = CPModel(to_pyjobshop(task.instance).data())
    starts = [variables.start for variables in written.variables.task_vars]
    return cpsat.search(task, written.model, starts, "PyJobShop")
