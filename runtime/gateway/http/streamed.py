"""An answer that comes in pieces, read until it is whole."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import aiohttp

from ....schema.values.values import is_mapping
from ...values.bounds import AT_ONCE, LARGEST_ANSWER, LARGEST_STREAM, MOST_LINES, apart
from ..chat.answer import parsed
from ..chat.errors import CallError
from .events import EventReader
from .refusals import refusal, without

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat.messages import ChatAnswer
    from ..stream_sink import StreamSink
    from .wire import Assembly, Wire

__all__ = ["StreamedAnswer", "failure_in"]

BYTES_AT_ONCE = 16 << 10
"""Bytes of events that are read before others have their turn: some milliseconds."""
BETWEEN_LOOKS = 2 * LARGEST_ANSWER
"""Bytes of events after which it is looked how large the answer has become."""
LAST_WORD = b"[DONE]"
SECONDS_TO_END = 0.05
"""How long the end of a response may come after its last event, so that its connection is kept."""
STATUS_OF = {
    "authentication_error": 401,
    "invalid_request_error": 400,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "server_error": 500,
}
"""What errors within a stream, which have no status, have as one elsewhere."""


@dataclass(kw_only=True, slots=True)
class StreamedAnswer:
    """Reads the response to one request.

    Attributes:
        source: The address, for messages.
        wire: The API.
        secrets: What was sent, which must not come back.
        hearing: Told what comes.
    """

    source: str
    wire: Wire
    secrets: frozenset[str]
    hearing: StreamSink
    _events: EventReader = field(default_factory=EventReader)
    _assembly: Assembly = field(init=False)
    _size: int = 0
    _taken: int = 0
    _looked: int = 0

    def __post_init__(self) -> None:
        self._assembly = self.wire.assembly()

    async def read(self, response: aiohttp.ClientResponse) -> bytes:
        """Give the response as it would have been without streaming, as JSON.

        Raises:
            CallError: It broke off, became too large, or said that it failed.
            aiohttp.ClientError: The connection broke.
        """
        try:
            while chunk := await response.content.read(BYTES_AT_ONCE):
                if await self._is_last(chunk):
                    await _ended(response)
                    return await self._whole()
                if len(chunk) == BYTES_AT_ONCE:  # there may be megabytes, and others wait
                    await asyncio.sleep(0)
        except aiohttp.ClientError:
            if not self._assembly.is_whole:
                raise
        for data in self._events.end():
            if data.strip() not in {b"", LAST_WORD}:
                await self._take(data)
        return await self._whole() if self._events.is_stream else bytes(self._events.plain)

    async def _is_last(self, chunk: bytes) -> bool:
        """Take what came; tell whether it was the last word."""
        self._size += len(chunk)
        if self._size > LARGEST_STREAM or self._events.waiting > LARGEST_ANSWER:
            raise self._too_large()
        went_on = False
        for data in self._events.feed(chunk):
            went_on = True
            word = data.strip()
            if word == LAST_WORD:
                return True
            if word:
                await self._take(data)
        most = self.hearing.most_pieces
        if self._taken > most or self._events.lines > MOST_LINES:
            raise self._refused(f"an answer in more than {most:,} pieces")
        if self._size - self._looked > BETWEEN_LOOKS:
            self._looked = self._size
            await self._content()
        self.hearing.on_bytes(went_on)
        return False

    async def _take(self, data: bytes) -> None:
        """Take an event."""
        self._taken += 1
        if len(data) <= AT_ONCE:
            event = parsed(self.source, without(self.secrets, data))
        else:
            event = await apart(len(data), lambda: parsed(self.source, without(self.secrets, data)))
        if failure := failure_in(event):
            raise self._failed(failure)
        if words := self._assembly.add(event):
            if self.hearing.received is None:
                self.hearing.received = self._received
            self.hearing.on_words(words)

    async def _whole(self) -> bytes:
        if not self._assembly.is_whole:
            raise CallError(
                f"{self.source}: the stream ended before the answer did.",
                kind="malformed",
                may_be_billed=True,
            )
        return await self._content()

    async def _content(self) -> bytes:
        """Write what has come until now as the response would have been."""
        content = await apart(self._size, lambda: json.dumps(self._assembly.body()).encode())
        if len(content) > LARGEST_ANSWER:
            raise self._too_large()
        return content

    def _received(self) -> ChatAnswer:
        return self.wire.answer(self._assembly.body(), self.source)

    def _too_large(self) -> CallError:
        return self._refused(f"an answer of more than {LARGEST_ANSWER >> 20} MiB")

    def _refused(self, what: str) -> CallError:
        return CallError(f"{self.source}: {what}.", kind="malformed", may_be_billed=True)

    def _failed(self, failure: Mapping[str, Any]) -> CallError:
        """Tell of a failure that the endpoint tells of when the answer has begun already."""
        status = _status(failure)
        content = json.dumps({"error": failure}).encode()
        error = refusal(self.source, status, {}, content)
        error.may_be_billed |= self.hearing.received is not None or status >= 500
        return error


async def _ended(response: aiohttp.ClientResponse) -> None:
    """Wait for the end of the response a moment, so that its connection can be used again."""
    if response.content.at_eof():
        return
    try:
        async with asyncio.timeout(SECONDS_TO_END):
            await response.content.readany()
    except (TimeoutError, aiohttp.ClientError):
        response.close()


def failure_in(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find the error that an event tells of, in the ways of the APIs that stream."""
    place = event.get("response") if event.get("type") == "response.failed" else event
    error = cast("Mapping[str, Any]", place).get("error") if is_mapping(place) else None
    if is_mapping(error):
        return cast("Mapping[str, Any]", error)
    if error:
        return {"message": str(error)}
    return event if event.get("type") == "error" else None


def _status(failure: Mapping[str, Any]) -> int:
    """Give the status that a failure has where it comes in place of an answer."""
    for name in ("code", "status", "type"):
        said = failure.get(name)
        if isinstance(said, int) and 400 <= said < 600:
            return said
        if isinstance(said, str) and (known := STATUS_OF.get(said)):
            return known
    return 500
