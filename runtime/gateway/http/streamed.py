"""Read a streamed answer until it is complete."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import aiohttp

from ....schema.values.values import is_list, is_mapping
from ...values.bounds import LARGEST_ANSWER, LARGEST_STREAM, MOST_LINES, apart
from ..chat.answer import failure_in, parsed, without
from ..chat.errors import CallError, malformed, too_large
from .events import EventReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat.messages import ChatAnswer
    from ..stream_sink import StreamSink
    from .wire import Assembly, WireFormat

BYTES_AT_ONCE = 16 << 10
"""Bytes of events to read before yielding to other tasks: some milliseconds."""
BETWEEN_LOOKS = 2 * LARGEST_ANSWER
"""Bytes of events between two checks of the answer's size."""
LAST_WORD = b"[DONE]"
SECONDS_TO_END = 0.05
"""How long to wait for a response's end after its last event, to reuse the connection."""
KEPT_ALIVE = frozenset(
    {b"", b"ping", b"pong", b"keep-alive", b"keepalive", b"keep_alive", b"heartbeat", b"processing"}
)
"""Events that some endpoints send as keep-alives. Any other event that is no object is ignored,
too."""
LONGEST_SIGN = 20


@dataclass(kw_only=True, slots=True)
class StreamedAnswer:
    """Reads the response to one request.

    Attributes:
        secrets: Secret values of the request, which messages must not repeat.
    """

    source: str
    wire: WireFormat
    secrets: frozenset[str]
    sink: StreamSink
    _events: EventReader = field(default_factory=EventReader)
    _assembly: Assembly = field(init=False)
    _size: int = 0
    _count: int = 0
    _looked: int = 0
    _has_last_word: bool = False
    _headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._assembly = self.wire.assembly()

    async def read(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the response as it would be without streaming, as JSON.

        Raises:
            CallError: It broke off, became too large, or reported a failure.
            aiohttp.ClientError: The connection broke.
        """
        self._headers = response.headers
        try:
            while chunk := await response.content.read(BYTES_AT_ONCE):
                if await self._is_last(chunk):
                    await _ended(response)
                    return await self._whole()
                if len(chunk) == BYTES_AT_ONCE:  # there may be megabytes, and other tasks wait
                    await asyncio.sleep(0)
        except aiohttp.ClientError:
            if not self._assembly.is_whole:
                self.sink.is_cut = True
                raise
        for data in self._events.end():
            await self._is_end(data)
        return await self._whole() if self._events.is_stream else bytes(self._events.plain)

    async def _is_last(self, chunk: bytes) -> bool:
        """Process received bytes; return whether they end the answer."""
        self._size += len(chunk)
        if self._size > LARGEST_STREAM or self._events.waiting > LARGEST_ANSWER:
            raise too_large(self.source)
        went_on = False
        for data in self._events.feed(chunk):
            went_on = True
            if await self._is_end(data):
                return True
        most = self.sink.most_pieces
        if self._count > most or self._events.lines > MOST_LINES:
            raise malformed(self.source, f"an answer of more than {most:,} chunks")
        if self._size - self._looked > BETWEEN_LOOKS:
            self._looked = self._size
            await self._content()
        self.sink.on_bytes(went_on)
        return False

    async def _is_end(self, data: bytes) -> bool:
        """Process the data of an event; return whether it ends the answer."""
        self._has_last_word |= len(data) < LONGEST_SIGN and data.strip().upper() == LAST_WORD
        if not self._has_last_word:
            await self._take(data)
        return self._has_last_word

    async def _take(self, data: bytes) -> None:
        """Process an event; keep-alives are ignored."""
        self._count += 1
        event = await apart(len(data), lambda: self._event(without(self.secrets, data)))
        if event is None or self._events.name == b"ping":
            return
        failure = failure_in(event)
        if failure or self._events.name == b"error":
            raise self._failed(failure or event)
        if words := self._assembly.add(event):
            if self.sink.received is None:
                self.sink.received = self._received
            self.sink.on_words(words)

    def _event(self, data: bytes) -> Mapping[str, Any] | None:
        """Parse an event; None if it is to be ignored."""
        if len(data) < LONGEST_SIGN and data.strip().lower() in KEPT_ALIVE:
            return None
        try:
            event: Any = json.loads(data)
        except (ValueError, RecursionError):
            if self._events.name == b"error" or data.lstrip()[:5].lower() == b"error":
                return {"error": data.decode("utf-8", "replace")}
            return parsed(self.source, data)
        if isinstance(event, str) and "error" in event.lower():
            return {"error": event}
        if is_list(event) and event and is_mapping(event[0]):  # Google wraps its errors so
            event = event[0]
        return cast("Mapping[str, Any]", event) if is_mapping(event) else None

    async def _whole(self) -> bytes:
        if not (self._assembly.is_whole or self._has_last_word):
            self.sink.is_cut = True
            raise malformed(self.source, "the stream ended before the answer did")
        return await self._content()

    async def _content(self) -> bytes:
        """Return the answer received so far as a response without streaming."""
        content = await apart(self._size, lambda: json.dumps(self._assembly.body()).encode())
        if len(content) > LARGEST_ANSWER:
            raise too_large(self.source)
        return content

    def _received(self) -> ChatAnswer:
        return self.wire.answer(self._assembly.body(), self.source)

    def _failed(self, failure: Mapping[str, Any]) -> CallError:
        """Return a failure that the endpoint reports, perhaps after the answer has begun."""
        from .refusals import failed

        began = self.sink.received is not None
        return failed(self.source, failure, self._headers, began=began)


async def _ended(response: aiohttp.ClientResponse) -> None:
    """Wait briefly for the end of the response, so that its connection can be reused."""
    if response.content.at_eof():
        return
    try:
        async with asyncio.timeout(SECONDS_TO_END):
            await response.content.readany()
    except (TimeoutError, aiohttp.ClientError):
        response.close()
