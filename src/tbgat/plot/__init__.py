"""Pictures. Every drawing function takes a matplotlib ``ax``; :func:`save` writes a whole file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tbgat.plot.animation import animate
    from tbgat.plot.curves import compare, learning, search
    from tbgat.plot.files import save
    from tbgat.plot.gantt import gantt
    from tbgat.plot.graph import graph

__all__ = ["animate", "compare", "gantt", "graph", "learning", "save", "search"]

_HOME = {
    "animate": "tbgat.plot.animation",
    "compare": "tbgat.plot.curves",
    "gantt": "tbgat.plot.gantt",
    "graph": "tbgat.plot.graph",
    "learning": "tbgat.plot.curves",
    "save": "tbgat.plot.files",
    "search": "tbgat.plot.curves",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        # The function, not the module of the same name, is what ``tbgat.plot.gantt`` means.
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tbgat.plot' has no attribute {name!r}")
