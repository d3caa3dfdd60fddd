"""Checks every request: host, origin, key and size.

The user of a request is the digest of its key, empty where none is needed. The body is read whole
before anything looks at it, so a limit on it holds for all protocols.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from starlette.authentication import SimpleUser
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from ..values.loopback import is_local_origin, is_loopback
from .refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .keys import Keys

HEALTH = "/healthz"
"""The path that needs no key."""
LARGEST_BODY = 32 << 20
"""Bytes of a request: enough for all images and PDFs of a task in base64, and a long
conversation."""


def refused(refusal: Refusal) -> JSONResponse:
    """Return the response of a refusal."""
    return JSONResponse(refusal.value, refusal.status, headers=dict(refusal.headers))


@dataclass(eq=False)
class Guard:
    """Admits authorised requests; an ASGI application around another one.

    Attributes:
        origins: Origins of other pages that may send requests, as the header `Origin` has them.
        is_local: Whether the server listens to this machine only.
    """

    app: ASGIApp
    _: KW_ONLY
    keys: Keys
    origins: Collection[str] = ()
    is_local: bool = True
    largest: int = LARGEST_BODY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check_names(headers)
            if scope["path"] != HEALTH:
                scope["user"] = SimpleUser(self.keys.caller(headers))
            body = await self._body(headers, receive)
        except Refusal as refusal:
            await refused(refusal)(scope, receive, send)
            return
        if body is not None:
            await self.app(scope, _again(body, receive), send)

    def _check_names(self, headers: Headers) -> None:
        if self.is_local and not is_loopback(headers.get("host", "")):
            raise Refusal(403, "this server only serves this machine.", code="wrong_host")
        origin = headers.get("origin")
        if origin is None or origin in self.origins or (self.is_local and is_local_origin(origin)):
            return
        message = f"origin {origin!r} is not allowed. The operator of this server can allow it:"
        raise Refusal(403, f"{message} --allow-origin.", code="wrong_origin")

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """Read the body; None if the client has hung up."""
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.largest:
            raise self._too_large()
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self.largest:
                raise self._too_large()
            if not message.get("more_body"):
                return bytes(body)

    def _too_large(self) -> Refusal:
        message = f"the request is too large; the limit is {self.largest} bytes."
        return Refusal(413, message, code="request_too_large")


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that repeats a body that was already read, and then passes on the rest."""
    unread = [body]

    async def give() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return give
