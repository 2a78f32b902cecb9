"""The policy: what the network sees, the network, its weights, and an environment for others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tbgat.errors import MissingExtraError

if TYPE_CHECKING:
    from tbgat.policy.features import MOVE_FEATURES, Observation, observe
    from tbgat.policy.network import PRESETS, TBGAT, NetworkConfig

__all__ = ["MOVE_FEATURES", "PRESETS", "TBGAT", "NetworkConfig", "Observation", "observe"]

_HOME = {
    "MOVE_FEATURES": "tbgat.policy.features",
    "NetworkConfig": "tbgat.policy.network",
    "Observation": "tbgat.policy.features",
    "PRESETS": "tbgat.policy.network",
    "TBGAT": "tbgat.policy.network",
    "observe": "tbgat.policy.features",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tbgat.policy' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise MissingExtraError("the network", "torch") from None
        raise
