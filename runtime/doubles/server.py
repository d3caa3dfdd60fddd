"""The server that plays a language model, on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import responses
from typing import Any, Protocol, Self, cast

from .calls import Call, CallRecord
from .endpoints import EndpointAnswer, Endpoints, HttpRequest
from .reply import Reply
from .script import Replies, choose_from

_HOST = "127.0.0.1"
TURNS_TO_OPEN = 8
"""Turns of the loop in which a connection that was accepted has its transport at the latest."""
_BACKLOG = 1024
_CLOSING = {"truncated", "headers", "closed"}
_FILLING = b" " * 65_536
_PADDING = 10_000_000


class Answering(Protocol):
    """What a server answers. Called on the server's thread: it must not block."""

    def authorized(self, request: HttpRequest) -> bool:
        """Whether the request carries the key, or none is asked for."""
        ...

    def answer(self, request: HttpRequest, body: dict[str, Any] | None) -> EndpointAnswer:
        """Answer a request, whose body is parsed already. Every failure is an answer too."""
        ...


class LoopbackServer:
    """A server on 127.0.0.1, while in `with`.

    Args:
        port: The port to listen on; 0 takes a free one.
    """

    def __init__(self, endpoints: Answering, *, port: int = 0) -> None:
        self._endpoints = endpoints
        self._port = port
        self._record = CallRecord()
        self._running: _Running | None = None

    def __enter__(self) -> Self:
        """Start to listen.

        Raises:
            OSError: The port is taken.
            RuntimeError: The server is running already.
        """
        if self._running is not None:
            raise RuntimeError("this scripted model is running already; make another one")
        self._running = _Running(Service(self._endpoints, self._record), self._port)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop: open calls are cut off, and no thread or socket stays behind."""
        if self._running is not None:
            self._running.stop()
            self._running = None

    @property
    def origin(self) -> str:
        """Where it listens, `http://127.0.0.1:PORT`.

        Raises:
            RuntimeError: The server is not running.
        """
        if self._running is None:
            raise RuntimeError("a scripted model has an address only inside its 'with' block")
        return f"http://{_HOST}:{self._running.port}"

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls until now, in the order of their arrival; also after the server stopped."""
        return self._record.calls

    @property
    def peak(self) -> int:
        """The largest number of calls that were open at one moment."""
        return self._record.peak

    def wait_for(
        self, condition: Callable[[tuple[Call, ...]], bool], *, timeout: float = 60.0
    ) -> tuple[Call, ...]:
        """Block until the calls meet a condition, looked at whenever one begins or ends.

        Args:
            condition: For instance `lambda calls: len(calls) == 2`.

        Returns:
            The calls that met it.
        """
        return self._record.wait_for(condition, timeout)


class ScriptedModel(LoopbackServer):
    """An OpenAI-compatible server on 127.0.0.1 that answers from a script, while in `with`.

    It serves `POST /v1/chat/completions` (with `n` and `stream`), `POST /v1/embeddings` and
    `GET /v1/models` under any name of a model.

    Args:
        replies: What to answer; `Replies` lists the forms. A request that the script has no reply
            for gets a status 500 that says so.
        key: The key that clients must send, else they get a status 401. None admits everyone.
        latency: Seconds before the chat replies that have no latency of their own.
        port: The port to listen on; 0 takes a free one.

    Raises:
        TypeError: `replies` is nothing that a script may be.
    """

    def __init__(
        self, replies: Replies, *, key: str | None = None, latency: float = 0.0, port: int = 0
    ) -> None:
        super().__init__(Endpoints(choose_from(replies), key=key, latency=latency), port=port)

    @property
    def api_base(self) -> str:
        """The address for clients, `http://127.0.0.1:PORT/v1`.

        Raises:
            RuntimeError: The server is not running.
        """
        return f"{self.origin}/v1"


class _Running:
    """A socket that listens, and the thread that answers on it."""

    def __init__(self, service: Service, port: int) -> None:
        self._service = service
        self._socket = socket.create_server((_HOST, port), backlog=_BACKLOG)
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="scripted-model", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await self._loop.create_server(
            lambda: Connection(self._service), sock=self._socket, backlog=_BACKLOG
        )
        await self._stop.wait()
        # Only stop to accept: a server that is closed drops, without closing them, the sockets of
        # connections that were accepted in this very turn.
        self._loop.remove_reader(self._socket)
        for _turn in range(TURNS_TO_OPEN):  # a connection may be half-way between here and there
            await asyncio.sleep(0)
            await self._service.hang_up()
        server.close()
        await server.wait_closed()


class Service:
    """What all connections share: the answers, the record, and each other."""

    def __init__(self, endpoints: Answering, record: CallRecord) -> None:
        self._endpoints = endpoints
        self._record = record
        self._connections: set[Connection] = set()

    def begin(self, request: HttpRequest) -> Exchange:
        """Take note of a request and choose its answer."""
        started = time.monotonic()
        body = request.json_object()
        answer = self._endpoints.answer(request, body)
        call = Call(
            method=request.method,
            path=request.path,
            headers={k: v for k, v in request.headers.items() if k != "authorization"},
            authorized=self._endpoints.authorized(request),
            body=body,
            reply=answer.reply,
            started=started,
        )
        return Exchange(answer=answer, record=self._record, number=self._record.begin(call))

    def opened(self, connection: Connection) -> None:
        """Take note of a new connection."""
        self._connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """Take note that a connection is gone."""
        self._connections.discard(connection)

    async def hang_up(self) -> None:
        """Close every connection, and let the loop free their sockets."""
        while self._connections:
            for connection in self._connections:
                connection.abort()
            await asyncio.sleep(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """A call that is being answered."""

    answer: EndpointAnswer
    record: CallRecord
    number: int

    def end(self, *, abandoned: bool = False) -> None:
        """Take note that the call is over; later calls of this method change nothing."""
        self.record.end(self.number, abandoned=abandoned)


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
