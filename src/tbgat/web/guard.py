"""Who may ask, and how much: token, host, origin, size of the body. Plain ASGI, for every route."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["Guard"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

COOKIE = "tbgat_token"
LOOPBACK = ("localhost", "127.0.0.1", "::1")

# Nothing from elsewhere, nothing inline, no page around ours.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Guard:
    """Refuse before anything is read what has no token, comes from another page or is too large.

    Parameters
    ----------
    token
        Demanded of every request if given.
    hosts
        Names this service answers to; empty for any. A page elsewhere that points a name of its
        own at this address is so refused.
    """

    def __init__(
        self, app: App, *, token: str | None, hosts: tuple[str, ...], upload_bytes: int
    ) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts
        self.upload_bytes = upload_bytes

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass on what may pass."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        if self._brings_token(scope):
            await _answer(send, 303, "", [("location", "/"), ("set-cookie", self._cookie())])
            return
        await self._pass_on(scope, receive, send, headers)

    def _refusal(
        self, scope: MutableMapping[str, Any], headers: dict[str, str]
    ) -> tuple[int, str] | None:
        host = _hostname(headers.get("host", ""))
        if self.hosts and host not in self.hosts:
            return 421, f"this service does not answer to the name {host!r}"
        origin = headers.get("origin")
        if origin and scope["method"] not in ("GET", "HEAD"):
            theirs = urlsplit(origin).netloc if origin != "null" else "null"
            if theirs != headers.get("host", ""):
                return 403, "requests from other pages are not accepted"
        if self.token is not None and not self._knows_token(scope, headers):
            return 401, "this service needs the token that 'tbgat ui' printed when it started"
        return None

    def _knows_token(self, scope: MutableMapping[str, Any], headers: dict[str, str]) -> bool:
        given = [headers.get("authorization", "").removeprefix("Bearer ").strip()]
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        if cookie is not None:
            given.append(cookie.value)
        if scope["path"] == "/":
            given += parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        wanted = (self.token or "").encode()
        return any(hmac.compare_digest(text.encode("utf-8", "replace"), wanted) for text in given)

    def _brings_token(self, scope: MutableMapping[str, Any]) -> bool:
        return (
            self.token is not None
            and scope["path"] == "/"
            and b"token=" in scope.get("query_string", b"")
        )

    def _cookie(self) -> str:
        return f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"

    async def _pass_on(
        self,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
        headers: dict[str, str],
    ) -> None:
        declared = headers.get("content-length", "0")
        body = b""
        if scope["method"] not in ("GET", "HEAD"):
            fits = not declared.isdigit() or int(declared) <= self.upload_bytes
            body, fits = await self._read(receive) if fits else (b"", False)
            if not fits:
                await _answer(send, 413, f"the request is larger than {self.upload_bytes} bytes")
                return
        told = False

        async def replayed() -> Message:
            nonlocal told
            if told:
                return await receive()
            told = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                have = {name.lower() for name, _ in message["headers"]}
                missing = ((k.encode(), v.encode()) for k, v in HEADERS.items())
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in missing if name not in have),
                ]
            await send(message)

        await self.app(scope, replayed, dressed)

    async def _read(self, receive: Receive) -> tuple[bytes, bool]:
        """Read the body; False as soon as it is larger than allowed."""
        parts, size = [], 0
        while True:
            message = await receive()
            part = message.get("body", b"")
            size += len(part)
            if size > self.upload_bytes:
                return b"", False
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts), True


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _answer(
    send: Send, status: int, detail: str, headers: list[tuple[str, str]] | None = None
) -> None:
    body = json.dumps({"detail": detail}).encode() if detail else b""
    listed = [("content-type", "application/json"), *HEADERS.items(), *(headers or [])]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in listed],
        }
    )
    await send({"type": "http.response.body", "body": body})
