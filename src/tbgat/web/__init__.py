"""The page and HTTP service behind ``tbgat ui``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tbgat.web.app import create_app
    from tbgat.web.limits import Limits

__all__ = ["Limits", "create_app"]


def __getattr__(name: str) -> Any:
    if name == "Limits":
        from tbgat.web.limits import Limits

        return Limits
    if name == "create_app":
        from tbgat.web.app import create_app

        return create_app
    raise AttributeError(f"module 'tbgat.web' has no attribute {name!r}")
