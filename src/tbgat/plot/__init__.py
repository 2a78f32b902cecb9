"""Pictures. Every drawing function takes a matplotlib ``ax``; :func:`save` writes a whole file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tbgat.plot.files import save
    from tbgat.plot.gantt import gantt

__all__ = ["gantt", "save"]

_HOME = {"gantt": "tbgat.plot.gantt", "save": "tbgat.plot.files"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        # The function, not the module of the same name, is what ``tbgat.plot.gantt`` means.
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tbgat.plot' has no attribute {name!r}")
