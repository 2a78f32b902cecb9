"""Job shop scheduling: strong local search, learned search (TBGAT) and CP-SAT behind one call.

>>> import tbgat
>>> result = tbgat.solve(tbgat.load("ft06"), seconds=1)  # doctest: +SKIP
>>> result.makespan  # doctest: +SKIP
55

Names are imported on first use, so that ``import tbgat`` stays instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tbgat.errors import TbgatError
    from tbgat.formats import read, read_all, write
    from tbgat.instance import Instance
    from tbgat.library import load
    from tbgat.schedule import Schedule
    from tbgat.schedule_files import read_schedule, write_schedule
    from tbgat.search.result import Result
    from tbgat.solvers import solve, solve_many

__all__ = [
    "Instance",
    "Result",
    "Schedule",
    "TbgatError",
    "__version__",
    "load",
    "read",
    "read_all",
    "read_schedule",
    "solve",
    "solve_many",
    "write",
    "write_schedule",
]

__version__ = "0.1.0"

_HOME = {
    "Instance": "tbgat.instance",
    "Result": "tbgat.search.result",
    "Schedule": "tbgat.schedule",
    "TbgatError": "tbgat.errors",
    "load": "tbgat.library",
    "read": "tbgat.formats",
    "read_all": "tbgat.formats",
    "read_schedule": "tbgat.schedule_files",
    "solve": "tbgat.solvers",
    "solve_many": "tbgat.solvers",
    "write": "tbgat.formats",
    "write_schedule": "tbgat.schedule_files",
}
_SUBMODULES = (
    "bounds",
    "dispatching",
    "formats",
    "generate",
    "graph",
    "library",
    "search",
    "solvers",
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _SUBMODULES:
        return import_module(f"tbgat.{name}")
    raise AttributeError(f"module 'tbgat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES})
