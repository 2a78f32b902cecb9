"""Method ``auto``: pick a method that suits the instance."""

from __future__ import annotations

from importlib.util import find_spec

from tbgat.search.task import Outcome, Task
from tbgat.solvers.registry import find_method

__all__ = ["choose", "solve"]

TINY_OPERATIONS = 50


def choose(task: Task) -> str:
    """CP-SAT where it proves the optimum in a moment, tabu search everywhere else."""
    tiny = task.instance.num_operations <= TINY_OPERATIONS
    return "cpsat" if tiny and find_spec("ortools") else "tabu"


def solve(task: Task) -> Outcome:
    """Hand the task to the chosen method."""
    chosen = find_method(choose(task))
    chosen.prepare()
    return chosen.solve(task)
