"""The disjunctive graph: state, evaluation, critical paths and moves."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tbgat.graph.mpts import longest_paths, topological_levels
    from tbgat.graph.state import GraphBatch, random_states

__all__ = ["GraphBatch", "longest_paths", "random_states", "topological_levels"]

_HOME = {
    "GraphBatch": "tbgat.graph.state",
    "longest_paths": "tbgat.graph.mpts",
    "random_states": "tbgat.graph.state",
    "topological_levels": "tbgat.graph.mpts",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'tbgat.graph' has no attribute {name!r}")
