"""A tool server at an address, reached over streamable HTTP."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
from mcp import types
from mcp.client.streamable_http import streamable_http_client

from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from ..values.bounds import LARGEST_MESSAGE
from .server_process import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    from ...schema.host.catalogue import ToolServer

EVENT_ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")


class ServerAddress:
    """The message streams of a server that someone else runs."""

    lost = "is unavailable. Go on without its tools."

    def __init__(
        self,
        incoming: MemoryObjectReceiveStream[SessionMessage | Exception],
        outgoing: MemoryObjectSendStream[SessionMessage],
        reaching: Reaching,
    ) -> None:
        self.incoming = incoming
        self.outgoing = outgoing
        self._reaching = reaching

    @property
    def ended(self) -> bool:
        """Whether the last request failed."""
        return bool(self._reaching.trouble)

    async def story(self) -> str:
        """Return the last failure, as a sentence."""
        return self._reaching.trouble


class Reaching(httpx.AsyncHTTPTransport):
    """The HTTP transport to a server; it bounds the server's answers.

    It reports every bad answer to the client library as the end of the session: the one failure
    after which the library answers the caller and continues.

    Attributes:
        trouble: The last request's failure, as a sentence.
    """

    trouble = ""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        try:
            response = await super().handle_async_request(request)
            if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
                await response.aclose()
                return self._failed(f"It compresses its answers ({quoted(encoding)}) unasked.")
            if response.headers.get("Content-Type", "").startswith("application/json"):
                response = await _read(response)
        except httpx.TransportError as error:
            return self._failed(f"It cannot be reached: {error or type(error).__name__}.")
        if response.is_redirect:
            await response.aclose()
            place = response.headers.get("Location", "nowhere")
            return self._failed(f"It redirects to {quoted(place)}. Write that url in tools.yaml.")
        if response.is_error and request.method == "POST":
            await response.aclose()
            return self._failed(f"It answered {response.status_code} {response.reason_phrase}.")
        self.trouble = ""
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            response.stream = _Events(response.stream, request)
        return response

    def _failed(self, trouble: str) -> httpx.Response:
        self.trouble = trouble
        return httpx.Response(httpx.codes.NOT_FOUND)


class _Events(httpx.AsyncByteStream):
    """The events of a response. An event that is too long is replaced by an error, and ends it."""

    def __init__(self, stream: object, request: httpx.Request) -> None:
        assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101 - for the type checker
        self._stream = stream
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes of events, as long as each may still become complete."""
        size, before = 0, b""
        async for piece in self._stream:
            joined = before + piece
            ends = [joined.rfind(end) + len(end) for end in EVENT_ENDS if end in joined]
            size = len(joined) - max(ends) if ends else size + len(piece)
            before = joined[-3:]
            if size > LARGEST_MESSAGE:
                yield self._refused()
                return
            yield piece

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def _refused(self) -> bytes:
        """Return bytes that void the current event, and answer the request with an error."""
        message = f"{UNREADABLE}: it has more than {LARGEST_MESSAGE} bytes"
        error = {"code": types.INTERNAL_ERROR, "message": message}
        number = json.loads(self._request.content or b"{}").get("id")
        answer = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
        return b"\nevent: skipped\n\ndata: %b\n\n" % (answer if number is not None else "").encode()


async def _read(response: httpx.Response) -> httpx.Response:
    content = bytearray()
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101 - for the type checker
    try:
        async for piece in stream:
            content += piece
            if len(content) > LARGEST_MESSAGE:
                raise httpx.ReadError(f"an answer of more than {LARGEST_MESSAGE} bytes")
    finally:
        await stream.aclose()
    try:
        if content and response.is_success:
            json.loads(content)
    except ValueError:
        shown = content[:100].decode(errors="replace")
        raise httpx.ReadError(f"what it answered cannot be read: {shown!r}") from None
    whole = httpx.ByteStream(bytes(content))
    return httpx.Response(response.status_code, headers=response.headers, stream=whole)


@asynccontextmanager
async def reached(server: ToolServer) -> AsyncGenerator[ServerAddress]:
    """Connect to a tool server for a `with` block."""
    reaching = Reaching()
    client = httpx.AsyncClient(
        headers={"Accept-Encoding": "identity", **headers_of(server, os.environ)},
        timeout=httpx.Timeout(server.timeout),
        transport=reaching,
    )
    async with (
        client,
        streamable_http_client(server.url, http_client=client) as (incoming, outgoing, _),
    ):
        yield ServerAddress(incoming, outgoing, reaching)


def headers_of(server: ToolServer, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the headers for a server.

    Raises:
        InputError: A variable with its key, or with a header, is not set.
    """
    for name in sorted(server.variables):
        if not environment.get(name):
            raise InputError(f"the tool server {server.name!r} needs the variable {name}. Set it.")
        if not (environment[name].isascii() and environment[name].isprintable()):
            raise InputError(
                f"the variable {name} of the tool server {server.name!r} is not one line of ASCII."
                " Set it to the value alone."
            )
    headers = {name: environment[variable] for name, variable in server.headers_env.items()}
    key = {"Authorization": f"Bearer {environment[server.key_env]}"} if server.key_env else {}
    return {**headers, **key}
