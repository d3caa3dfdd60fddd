"""Responses that end with their client: hanging up cancels the run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.responses import StreamingResponse

from ...schema.values.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable

    from starlette.types import Receive, Scope, Send

ALIVE = 15.0
"""Seconds without an event until a comment is sent, so that no proxy closes the stream."""
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

T = TypeVar("T")


class ClientGone(Exception):
    """The client hung up before it had its answer."""


def server_sent(data: object, name: str | None = None) -> str:
    """Return a server-sent event as text."""
    text = data if isinstance(data, str) else dumps(data, ensure_ascii=False)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n"


async def until_hung_up(receive: Receive, work: Awaitable[T]) -> T:
    """Do work for a client whose request was read; cancel it if the client hangs up.

    Raises:
        ClientGone: The client hung up.
    """
    working = asyncio.ensure_future(work)
    hung_up = asyncio.ensure_future(_hung_up(receive))
    try:
        await asyncio.wait({working, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        hung_up.cancel()
        await asyncio.gather(working, hung_up, return_exceptions=True)


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(StreamingResponse):
    """Sends server-sent events; comments keep it alive.

    Args:
        source: The events. It is closed at the end, also when the client hangs up.
    """

    def __init__(self, events: AsyncGenerator[str], source: AsyncGenerator[Any]) -> None:
        self._source = source
        super().__init__(_kept_alive(events), media_type="text/event-stream", headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end, or the client hangs up."""
        del scope
        try:
            await until_hung_up(receive, self.stream_response(send))
        except ClientGone:
            pass
        finally:
            await self._source.aclose()


async def _kept_alive(events: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """Pass events on, and add a comment whenever none arrives for a while."""
    pending: asyncio.Task[str] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(events))
            finished, _ = await asyncio.wait({pending}, timeout=ALIVE)
            if not finished:
                yield ": still at work\n\n"
                continue
            try:
                text = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield text
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)
