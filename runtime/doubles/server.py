"""The server that plays a language model, on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

from .calls import Call, CallRecord
from .connection import Connection
from .endpoints import EndpointAnswer, Endpoints, HttpRequest
from .script import Replies, choose_from

_HOST = "127.0.0.1"
TURNS_TO_OPEN = 8
"""Turns of the loop in which a connection that was accepted has its transport at the latest."""
_BACKLOG = 1024


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
