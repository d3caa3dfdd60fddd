"""Parse server-sent events as their bytes arrive: https://html.spec.whatwg.org/#event-stream."""

from __future__ import annotations

from collections.abc import Iterator

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN = 200
"""The bytes to keep of a response that is neither a stream nor a document."""
DOCUMENT = (b"{", b"[", b"<")
"""Beginnings of documents that some endpoints send instead of a stream: JSON, or a page of HTML."""


class EventReader:
    """Extracts the data of events from a stream, wherever the network splits it.

    A document sent in place of a stream is kept unchanged.

    Attributes:
        plain: The document; or the beginning of the response, if it contains no event.
        name: The type of the last event returned; empty if the endpoint does not send it.
    """

    def __init__(self) -> None:
        self.plain = bytearray()
        self.is_stream = False
        self.lines = 0
        self.name = b""
        self._is_document: bool | None = None
        self._skipped = 0
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._name = b""
        self._held = 0
        self._after_return = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Add bytes, and yield the data of each event that they complete."""
        if self._is_document is None:
            chunk = self._begun(chunk)
        if self._is_document:
            self.plain += chunk
            return
        if len(self.plain) < SHOWN:
            self.plain += chunk[:SHOWN]
        for line in self._lines(chunk):
            if line:
                self._take(line)
            elif self._data:
                yield self._event()
            else:
                self._name = b""

    def end(self) -> Iterator[bytes]:
        """Yield the data of a last event without the empty line that should end it."""
        if not self._is_document:
            self._take(bytes(self._rest))
            self._rest.clear()
            if self._data:
                yield self._event()

    @property
    def waiting(self) -> int:
        """The bytes received of an incomplete event or document."""
        return self._skipped + len(self._rest) + len(self.plain) + self._held

    def _begun(self, chunk: bytes) -> bytes:
        """Inspect the beginning as soon as a non-space character arrives."""
        start = chunk.removeprefix(BYTE_ORDER_MARK).lstrip()
        if start:
            self._is_document = start.startswith(DOCUMENT)
        else:
            self._skipped += len(chunk)
        return start

    def _lines(self, chunk: bytes) -> list[bytes]:
        """Split at line ends: a line feed, a carriage return, or both."""
        if self._after_return and chunk:
            self._after_return = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_return = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        whole = chunk.split(b"\n")
        rest = whole.pop()
        if whole and self._rest:
            whole[0] = bytes(self._rest + whole[0])
            self._rest.clear()
        self._rest += rest
        self.lines += len(whole)
        return whole

    def _take(self, line: bytes) -> None:
        """Add a line; comments and all fields but `event` and `data` are ignored."""
        if not line.startswith(b"data:"):
            line = line.removeprefix(BYTE_ORDER_MARK)
        if line.startswith(b"event:"):
            self._name = line[6:].strip()
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._held += len(line)

    def _event(self) -> bytes:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data.clear()
        self._held = 0
        self.name, self._name = self._name, b""
        self.is_stream = True
        return data
