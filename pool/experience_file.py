"""The file that the memory is: one entry a line, appended and never changed by us.

A person may edit it, and version control may bring another one. A line that cannot be read is
passed over and said, with its number; it hides no other.
"""

from __future__ import annotations

import logging
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ..schema.errors import StorageError
from ..schema.files import append, locked, make_folder, sync, truncate
from .experience import from_line, to_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .experience import Experience

__all__ = ["ExperienceFile"]

SEEN = 4096
"""Bytes before the place where we stopped that must still be there when we go on. They hold ids,
so in another file they are others."""


class ExperienceFile:
    """The entries of a file. Any number of processes of one machine may read and append.

    Args:
        path: The file. Its folder is made with the first entry; a hidden file beside it is the
            lock.
        report: Told of lines that cannot be read, and of those that a crash left unfinished.
    """

    def __init__(self, path: Path, *, report: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._lock = path.with_name(f".{path.name}.lock")
        self._report = report or logging.getLogger(__name__).warning
        self._generation = 0
        self._forget()

    @property
    def entries(self) -> Mapping[str, Experience]:
        """The entries by id, in the file's order, as far as they have been read."""
        return self._entries

    @property
    def generation(self) -> int:
        """A number that changes when another file stands in this one's place."""
        return self._generation

    def add(self, entry: Experience) -> bool:
        """Append an entry; it is on disk when this returns. False: its id was there already.

        Raises:
            ValueError: A field is not as the schema has it.
            StorageError: The file cannot be read or written.
        """
        line = to_line(entry)
        make_folder(self.path.parent)
        with locked(self._lock):
            self._read()
            self._repair()
            if entry.id in self._entries:
                sync(self.path)  # who appended it may have died before the disk had it
                return False
            append(self.path, line)
            self._read()
        return True

    def read(self) -> None:
        """Take in what was appended since, by whomever. What is not a whole line waits.

        Raises:
            StorageError: The file cannot be read.
        """
        # Without the lock, an unfinished line could be replaced while we read it. Nobody appends
        # to a file whose lock is not there, or not writable.
        with locked(self._lock) if os.access(self._lock, os.W_OK) else nullcontext():
            self._read()

    def _read(self) -> None:
        content = self._appended()
        *lines, _ = content.split(b"\n")
        for number, line in enumerate(lines, self._lines + 1):
            self._take(line, number)
        whole = content[: content.rfind(b"\n") + 1]
        self._lines += len(lines)
        self._offset += len(whole)
        self._seen = (self._seen + whole)[-SEEN:]

    def _repair(self) -> None:
        """End the last line where someone's editor did not; remove it where a crash cut it off."""
        rest = self._appended()
        if not rest:
            return
        try:
            from_line(rest)
        except ValueError:
            truncate(self.path, self._offset)
            self._report(
                f"{self.path}:{self._lines + 1}: {len(rest)} bytes of a line that a crash left"
                " unfinished were removed."
            )
        else:
            append(self.path, b"\n")
            self._read()

    def _take(self, line: bytes, number: int) -> None:
        if not line.strip():
            return
        try:
            entry = from_line(line)
        except ValueError as error:
            self._report(f"{self.path}:{number}: this line is passed over: {error}.")
            return
        if entry.id in self._entries:
            self._report(
                f"{self.path}:{number}: this line is passed over: {entry.id!r} stands further up."
            )
        self._entries.setdefault(entry.id, entry)

    def _appended(self) -> bytes:
        """Give the bytes after those that were read; all of them where the file is another one."""
        try:
            with self.path.open("rb") as stream:
                stream.seek(max(0, self._offset - len(self._seen)))
                content = stream.read()
                if content.startswith(self._seen):
                    return content[len(self._seen) :]
                self._forget()
                stream.seek(0)
                return stream.read()
        except FileNotFoundError:
            if self._offset:
                self._forget()
            return b""
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be read: {error.strerror}.") from error

    def _forget(self) -> None:
        self._entries: dict[str, Experience] = {}
        self._offset = self._lines = 0
        self._seen = b""
        self._generation += 1
