"""A server of pages for the browsers of this machine only, at an address that cannot be guessed.

It answers GET and changes nothing except by a form's answer to an agent's question. It refuses
requests for another host name (DNS rebinding) and requests without the token.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger

from ...schema.values.errors import CoterieError, InputError
from ..values.bounds import LARGEST_ANSWER
from ..values.loopback import LOOPBACK, is_loopback
from .links import Links
from .pages import document, policy
from .report import make_page, problem
from .site import ANSWER, Answerable, NoPage, Site

HOST = LOOPBACK
PAUSE = 1.0
"""Seconds between two checks of a folder."""
SHARE = 20
"""How many times as long as the last page took the server waits before it reports another change.
So making pages takes at most a twentieth of a core, whatever a run writes."""
FAULTS_OF_REQUESTS = (HttpProcessingError, web.RequestPayloadError, ConnectionError)
"""The exceptions that aiohttp raises for a request that is malformed or too large, or broken
off."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{policy()}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(eq=False, kw_only=True)
class PageServer:
    """Serves the pages of a folder. An async context manager; afterwards the port is free.

    Attributes:
        port: The port; 0 for any free one.
        pause: Seconds between two checks of the folder.

    Raises:
        InputError: The port is in use.
    """

    site: Site
    source: Path
    port: int = 0
    pause: float = PAUSE
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _runner: web.AppRunner | None = None
    _took: float = 0.0
    _rendered: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    @property
    def base(self) -> str:
        """The prefix of every path."""
        return f"/{self.token}/"

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://{HOST}:{self.port}{self.base}"

    async def __aenter__(self) -> PageServer:
        app = web.Application(middlewares=[self._guarded], client_max_size=LARGEST_ANSWER)
        app.router.add_route("*", "/{token}/live", self._live)
        app.router.add_post(f"/{{token}}/{ANSWER}", self._answer)
        app.router.add_route("*", "/{token}/{page:.*}", self._page)
        # No request's body is unpacked: what a form sends is not packed.
        self._runner = web.AppRunner(
            app, access_log=None, logger=_logger(), auto_decompress=False, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise InputError(
                f"cannot listen on {HOST}:{self.port}: {error.strerror}. Choose another --port, or"
                " leave it out."
            ) from None
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _guarded(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse requests without the token or for another host, without revealing what exists."""
        if not is_loopback(request.host):
            return _refused(403, "This server only serves this machine.")
        token = request.match_info.get("token", "")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return _refused(404, "No such page. Open the address that mas-view printed.")
        is_form = request.method == "POST" and request.path == f"{self.base}{ANSWER}"
        if not is_form and request.method not in {"GET", "HEAD"}:
            return _refused(405, "Only GET is supported.")
        return await handler(request)

    async def _page(self, request: web.Request) -> web.Response:
        address = request.match_info["page"]
        try:
            text = await asyncio.to_thread(self._text, address)
        except NoPage:
            return _refused(404, f"There is no page {address!r} here.")
        return web.Response(text=text, content_type="text/html", headers=HEADERS)

    async def _answer(self, request: web.Request) -> web.Response:
        """Pass on the content of a page's form."""
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            return _refused(403, "Only pages of this server can send answers.")
        if not isinstance(self.site, Answerable):
            return _refused(404, "Nothing here is waiting for an answer.")
        fields = await request.post()
        try:
            self.site.answer(str(fields.get("question", "")), str(fields.get("answer", "")))
        except CoterieError as error:
            return _refused(409, str(error))
        raise web.HTTPSeeOther(self.base, headers=HEADERS)

    def _text(self, address: str) -> str:
        """Return a page, rendered again if something has changed."""
        started = time.thread_time()
        links = Links(here=address, contents=[], base=self.base)
        try:
            state = self.site.state
            links = Links(here=address, contents=[*self.site.contents], base=self.base)
            if state and (cached := self._rendered.get(address)) and cached[0] == state:
                return cached[1]
            page = make_page(self.site, links, self.source)
        except CoterieError as error:
            state, page = "", problem("This cannot be shown", str(error), links)
        text = document(self.site, [(links, page)], live=self._live_address(state))
        self._rendered = {address: (state, text)}
        self._took = time.thread_time() - started
        return text

    def _live_address(self, state: str) -> str:
        """Return the address that reports changes since a state; empty once nothing changes."""
        return f"{self.base}live?{urlencode({'from': state})}" if state else ""

    async def _live(self, request: web.Request) -> web.StreamResponse:
        """Report changes as they happen, until the last one."""
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            async for event in self._changes(request.query.get("from", "")):
                await response.write(f"{event}\n\n".encode())
        except ConnectionResetError:
            pass  # the page was closed
        return response

    async def _changes(self, before: str) -> AsyncIterator[str]:
        value = time.monotonic()
        while True:
            state = self._state()
            waited = time.monotonic() - value
            if not state:
                yield "event: end\ndata:"
                return
            if state != before and waited >= self._took * SHARE:
                before, value = state, time.monotonic()
                yield "event: change\ndata:"
            else:
                yield ": still"
            await asyncio.sleep(self.pause)

    def _state(self) -> str:
        try:
            return self.site.state
        except CoterieError:
            return ""


def _logger() -> logging.Logger:
    """Return the logger for aiohttp's errors, without those that a malformed request causes.

    A fault of ours is printed with its traceback. A malformed request gets an error as its answer;
    its traceback would print its address, which holds the token.
    """
    logger = logging.Logger(__name__)
    logger.parent = server_logger
    logger.addFilter(_is_ours)
    return logger


def _is_ours(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, FAULTS_OF_REQUESTS)


def _refused(status: int, why: str) -> web.Response:
    return web.Response(status=status, text=f"{why}\n", headers=HEADERS)
