"""One HTTP/1.1 connection: requests in, answers out, as whole or as broken as the reply says."""

from __future__ import annotations

import asyncio
from http.client import responses
from typing import TYPE_CHECKING, cast

from .endpoints import HttpRequest

if TYPE_CHECKING:
    from .endpoints import EndpointAnswer
    from .reply import Reply
    from .server import Exchange, Service

_CLOSING = {"truncated", "headers", "closed"}
_FILLING = b" " * 65_536
_PADDING = 10_000_000


class Connection(asyncio.Protocol):
    """Answers the requests of one client, one after the other."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._received = bytearray()
        self._sending: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._service.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and stop answering: nobody listens."""
        if self._sending is not None:
            self._sending.cancel()
        self._service.closed(self)

    def pause_writing(self) -> None:
        """Wait, the client reads slowly."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on, the client has caught up."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Collect bytes until they are a request."""
        self._received += data
        self._read_next()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _read_next(self) -> None:
        if self._sending is not None:
            return
        request = _take_request(self._received)
        if request is None:
            return
        exchange = self._service.begin(request)
        self._sending = asyncio.get_running_loop().create_task(self._send(exchange))
        # A task that is cancelled before its first step runs none of its own code.
        self._sending.add_done_callback(lambda task: exchange.end(abandoned=task.cancelled()))

    async def _send(self, exchange: Exchange) -> None:
        answer = exchange.answer
        reply = answer.reply
        await asyncio.sleep(reply.latency)
        if reply.delivery == "never":
            await asyncio.Event().wait()
        if reply.delivery == "endless":
            await self._send_forever(answer)
        rest = _response(answer)
        if reply.delivery == "dripped":
            rest = await self._drip(rest, len(rest) - len(answer.content), reply.interval)
        if reply.delivery == "paced":
            rest = await self._pace(rest, reply.interval)
        if reply.delivery == "dripped_headers":
            rest = await self._drip(rest, 0, reply.interval, len(rest) - len(answer.content))
        # A client that has the last byte may look at the calls at once, from another thread.
        exchange.end()
        self._transport.write(rest)
        self._sending = None
        if reply.delivery in _CLOSING:
            self._transport.close()
        else:
            self._read_next()

    async def _send_forever(self, answer: EndpointAnswer) -> None:
        head = _head(answer.reply, answer.content_type, length=None)
        self._transport.write(head + answer.content.rstrip()[:-1])
        while True:
            await self._writable.wait()
            self._transport.write(_FILLING)
            await asyncio.sleep(0)

    async def _pace(self, response: bytes, interval: float) -> bytes:
        """Send a response event by event; return what is left."""
        start = response.find(b"\r\n\r\n") + 4
        self._transport.write(response[:start])
        while 1 < (end := response.find(b"\n\n", start) + 2) < len(response):
            await asyncio.sleep(interval)
            self._transport.write(response[start:end])
            start = end
        await asyncio.sleep(interval)
        return response[start:]

    async def _drip(
        self, response: bytes, start: int, interval: float, end: int | None = None
    ) -> bytes:
        """Send a response up to its last byte, slowly between two places; return what is left."""
        end = len(response) - 1 if end is None else end
        self._transport.write(response[:start])
        for position in range(start, end):
            await asyncio.sleep(interval)
            self._transport.write(response[position : position + 1])
        await asyncio.sleep(interval)
        return response[max(start, end) :]


def _take_request(received: bytearray) -> HttpRequest | None:
    """Remove the first request from the bytes, if all of it is there."""
    head_end = received.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    request_line, *lines = received[:head_end].decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
    }
    start = head_end + 4
    end = start + int(headers.get("content-length", "0"))
    if len(received) < end:
        return None
    body = bytes(received[start:end])
    del received[:end]
    method, _, target = request_line.partition(" ")
    path = target.partition(" ")[0]
    return HttpRequest(method=method, path=path, headers=headers, body=body)


def _response(answer: EndpointAnswer) -> bytes:
    """Encode a response, or as much of it as its delivery lets out."""
    content = answer.content
    half = content[: len(content) // 2]
    match answer.reply.delivery:
        case "closed":
            return b""
        case "headers":
            return _head(answer.reply, answer.content_type, length=len(content))
        case "truncated":
            return _head(answer.reply, answer.content_type, length=len(content)) + half
        case "padded":
            padding = b" " * _PADDING
            length = len(padding) + len(content)
            return _head(answer.reply, answer.content_type, length=length) + padding + content
        case "half":
            return _head(answer.reply, answer.content_type, length=len(half)) + half
        case _:
            return _head(answer.reply, answer.content_type, length=len(content)) + content


def _head(reply: Reply, content_type: str, *, length: int | None) -> bytes:
    headers = {"content-type": content_type, **reply.headers}
    # Without a length the body ends with the connection.
    headers |= {"connection": "close"} if length is None else {"content-length": str(length)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reason = responses.get(reply.status, "Unknown")
    return f"HTTP/1.1 {reply.status} {reason}\r\n{lines}\r\n".encode("latin-1")
