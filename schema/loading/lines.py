"""The lines of a file that is too large for memory, with the place where each begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

from .loading import TASK_LIMITS


class TextPlace(NamedTuple):
    """The beginning of a line: its number, and the number of bytes before it."""

    line: int = 1
    offset: int = 0


class LineTooLong(ValueError):
    """A line is too large for memory."""

    def __init__(self) -> None:
        super().__init__(f"a line larger than {TASK_LIMITS.bytes} bytes. Shorten it.")


class Lines:
    """The lines of a file, including line breaks."""

    def __init__(self, stream: IO[bytes]) -> None:
        """Start at the file's beginning."""
        self._stream = stream
        self._waiting: list[bytes] = []
        self.place = TextPlace()

    def seek(self, place: TextPlace) -> None:
        """Continue at an earlier value of `place`."""
        self._stream.seek(place.offset)
        self._waiting.clear()
        self.place = place

    def __iter__(self) -> Iterator[bytes]:
        """Return the lines from the current place on."""
        return self

    def __next__(self) -> bytes:
        """Return the next line.

        Raises:
            LineTooLong: The line is too large.
        """
        if not self._waiting:
            chunk = self._stream.readline(TASK_LIMITS.bytes + 1)
            if len(chunk) > TASK_LIMITS.bytes:
                raise LineTooLong
            self._waiting = chunk.splitlines(keepends=True)[::-1]  # some files end lines with \r
        if not self._waiting:
            raise StopIteration
        line = self._waiting.pop()
        self.place = TextPlace(self.place.line + 1, self.place.offset + len(line))
        return line
