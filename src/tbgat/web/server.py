"""Start the service: where it listens, where it keeps its jobs, and who may use it."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from pathlib import Path

from tbgat.errors import MissingExtraError, UsageError
from tbgat.web.limits import Limits

__all__ = ["default_database", "is_loopback", "serve"]


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8008,
    database: Path | None = None,
    token: str | None = None,
    limits: Limits | None = None,
    weights: str | None = None,
) -> None:
    """Serve until interrupted. Anywhere but on the loopback, a token is demanded.

    Parameters
    ----------
    port
        0 for any free one; the address is printed.
    token
        Made up and printed if others can reach the service and none is given.
    weights
        Set, folder or file of the network whose probabilities are shown beside the moves.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise MissingExtraError("the page", "web") from None
    from tbgat.web.app import create_app
    from tbgat.web.guard import LOOPBACK

    alone = is_loopback(host)
    if token is None and not alone:
        token = secrets.token_urlsafe(24)
    if weights is not None:
        _check_weights(weights)
    listener = _listen(host, port)
    path = database or default_database()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {path.parent}: {error.strerror}") from None
    hosts = LOOPBACK if alone else ()
    app = create_app(path, limits=limits, token=token, hosts=hosts, weights=weights)
    address = f"http://{_bracketed(host)}:{listener.getsockname()[1]}/"
    print(f"tbgat is at {address}{f'?token={token}' if token else ''}", flush=True)
    print(f"jobs are kept in {path}; press Ctrl-C to stop", flush=True)
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=3, server_header=False
    )
    uvicorn.Server(config).run(sockets=[listener])


def _check_weights(source: str) -> None:
    """Complain now, not when the first page asks."""
    from tbgat.policy.weights import load_weights

    load_weights(source)


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def default_database() -> Path:
    """Where jobs are kept unless told otherwise: the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "tbgat" / "jobs.sqlite"


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot listen at {host} port {port}: {reason}") from None
    return listener


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
