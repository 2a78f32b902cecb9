"""Load or compile a method's loop before its clock starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tbgat.graph.compiled import announce_compilation
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Outcome, Task

__all__ = ["warm_up"]


def warm_up(solve: Callable[[Task], Outcome], kernel: Any) -> None:
    """Run a method for two steps on a shop of two jobs, unless its loop is loaded already."""
    if kernel.signatures:
        return
    announce_compilation(kernel)
    shop = Instance([[(0, 2), (1, 1)], [(0, 1), (1, 2)]])
    start = Schedule.from_machine_orders(shop, [[0, 2], [1, 3]])
    solve(Task(shop, "", MaxSteps(2), 0, start))
