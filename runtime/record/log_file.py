"""An append-only file of lines, from which a failure removes no more than the end.

Each line has a checksum, the number of bytes that were on disk when it was written, and its
content. A killed process leaves half a line at the end. A machine without power may keep any part
of the unflushed data, even a line without the one before it. So the file ends at the first line
with a wrong checksum, unless a later line shows that this one was on disk: then the file is
damaged.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from errno import ENOENT
from pathlib import Path
from typing import Self, TypeAlias
from zlib import crc32

from ...schema.values.errors import InputError, StorageError
from ...schema.values.failpoints import failpoint
from ...schema.values.files import naming, sync, truncate, write_atomically

Note: TypeAlias = "Callable[[int, bytes], None]"
"""Called with each line of a file: its offset and its content."""
HEAD = b"coterie journal 1\n"
"""The first line: the file's type and the version of its format."""
CHECKSUM = 8
"""Hexadecimal digits of a line's CRC-32."""
AT_FIRST = 4096
"""Bytes of a line to read at first."""


@dataclass(kw_only=True, eq=False)
class LogFile:
    """The file. One process at a time writes to it; others may read it meanwhile.

    Attributes:
        size: Written bytes.
        flushed: How many of them are on disk. None if not even the files beside it are, which
            describe what the lines are about.
        failure: Why a flush, or a write in the background, failed. Data that a disk once refused
            may be lost without another error, so nothing is written any more.
    """

    path: Path
    size: int
    flushed: int | None = None
    failure: StorageError | None = None
    _handle: int
    _is_changed: bool = False
    _beside: Sequence[Path] = ()
    _flushing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: Path, note: Note, *, reading: bool = False) -> Self:
        """Open a file, or create it; cut off what a failure left at its end.

        Args:
            reading: Only read it: create and change nothing.

        Raises:
            InputError: The file has another format or is damaged, or is to be read and does not
                exist.
            StorageError: The file cannot be created or written.
        """
        size = 0
        for place, line in _lines(path) if reading or path.exists() else ():
            size = place + len(line)
            if place and (content := _content(line)):
                note(place, content)
        handle = _opened(path, reading=reading)
        log = cls(path=path, size=size, flushed=size if reading else None, _handle=handle)
        try:
            if not reading:
                log._make_whole()
        except BaseException:
            os.close(handle)
            raise
        return log

    def append(self, contents: Sequence[bytes]) -> list[int]:
        """Append lines, all or none; return their offsets.

        Raises:
            StorageError: They cannot be written, or earlier data could not be kept.
        """
        if self.failure is not None:
            raise self.failure
        places, text, flushed = list[int](), b"", self.flushed or 0
        for content in contents:
            places.append(self.size + len(text))
            text += _line(content, flushed)
        self._append(text)
        return places

    def read(self, place: int) -> bytes:
        """Return the content of the line at an offset."""
        text, most = b"", AT_FIRST
        while (end := text.find(b"\n")) < 0:
            part = os.pread(self._handle, most, place + len(text))
            if not part:
                raise StorageError(f"{self.path}: the journal is damaged: it was truncated.")
            text, most = text + part, most * 4
        return _content(text[: end + 1])

    def rewrite(self, places: Iterable[int]) -> None:
        """Keep only the lines at some offsets.

        Raises:
            StorageError: The file cannot be written; it stays unchanged.
        """
        with self._flushing:
            # The lock keeps every flush away from the handle that is exchanged here.
            write_whole(self.path, (self.read(place) for place in places))
            os.close(self._handle)
            self._handle = _opened(self.path)
            self.size = self.flushed = os.fstat(self._handle).st_size

    @property
    def is_flushed(self) -> bool:
        """Whether all written data is on disk."""
        return self.flushed == self.size and self.failure is None

    def flush(self) -> None:
        """Flush all written data.

        Raises:
            StorageError: It cannot be flushed.
        """
        with self._flushing:
            if not self.is_flushed and self.failure is None:
                self._flush()
        if self.failure is not None:
            raise self.failure

    def try_flush(self) -> None:
        """Flush all written data; a failure reaches the next writer."""
        with contextlib.suppress(StorageError):
            self.flush()

    def close(self) -> None:
        """Flush all written data, record that it is on disk, and close the file.

        Raises:
            StorageError: It cannot be flushed.
        """
        try:
            if self._is_changed or self.failure is not None:
                self.flush()
                with contextlib.suppress(OSError):  # without it, nothing is lost
                    os.write(self._handle, _line(b"", self.size))
        finally:
            with self._flushing:
                os.close(self._handle)
                self.flushed = self.size  # so that no flush that comes later uses the handle

    def _make_whole(self) -> None:
        """Cut off an incomplete end, write the first line of a new file, and see what is beside it.

        Only that is flushed with it: what comes later does not describe what its lines are about.
        """
        if os.fstat(self._handle).st_size > self.size:
            truncate(self.path, self.size)  # flushed, so that nothing of it reappears
        if not self.size:
            self._append(HEAD)
            self._is_changed = False
        with naming(self.path.parent):
            self._beside = sorted(self.path.parent.iterdir())

    def _append(self, text: bytes) -> None:
        left = text
        try:
            failpoint("journal.append.before")
            while left:
                left = left[os.write(self._handle, left) :]
            failpoint("journal.append.after")
        except BaseException as error:
            self._cut_back()
            if isinstance(error, OSError):
                raise _failure(self.path, error) from None
            raise
        self.size += len(text)
        self._is_changed = True

    def _cut_back(self) -> None:
        """Remove the written part of lines that could not be written completely."""
        try:
            # An incomplete line is allowed only at the end of the file.
            os.ftruncate(self._handle, self.size)
        except OSError as error:
            self.failure = _failure(self.path, error)

    def _flush(self) -> None:
        # Read before the sync, which need not include data appended meanwhile.
        upto = self.size
        try:
            if self.flushed is None:
                self._flush_folder()
            else:
                sync(self.path, self._handle)
        except OSError as error:  # also for a file beside ours, or the folder above it
            self.failure = _failure(self.path, error)
        else:
            self.flushed = upto

    def _flush_folder(self) -> None:
        for file in self._beside:
            if file.is_file():
                try:
                    sync(file)
                except StorageError as error:
                    if error.errno != ENOENT:  # a temporary file that was renamed meanwhile
                        raise
        # Contents before names: no name on disk may lead to a file that is empty there.
        sync(self.path.parent)
        sync(self.path.parent.parent)


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and content of each line of a file. Nothing is locked or changed.

    Raises:
        InputError: The file does not exist, has another format, or is damaged.
    """
    for place, line in _lines(path):
        if place and (content := _content(line)):
            yield place, content


def lines_at(path: Path, places: Iterable[int]) -> Iterator[bytes]:
    """Yield the contents of lines at offsets from `lines_of`."""
    with path.open("rb") as file:
        for place in places:
            file.seek(place)
            yield _content(file.readline())


def write_whole(path: Path, contents: Iterable[bytes]) -> None:
    """Write a file of lines completely, or leave the existing one.

    Raises:
        StorageError: It cannot be written.
    """

    def lines() -> Iterator[bytes]:
        size = len(HEAD)
        yield HEAD
        for content in contents:
            line = _line(content, size)
            size += len(line)
            yield line
        yield _line(b"", size)

    write_atomically(path, lines())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its offset, up to the first invalid one."""
    try:
        with path.open("rb") as file:
            place = 0
            for line in file:
                if not (_is_whole(line) if place else line == HEAD):
                    _refuse_damage(path, place, file)
                    return
                yield place, line
                place += len(line)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def _refuse_damage(path: Path, place: int, rest: Iterable[bytes]) -> None:
    """Raise an error if an invalid line was on disk before, or the file is no journal."""
    # A later line shows that this offset was on disk: no crash removed it.
    if any(_flushed(line) > place for line in rest if _is_whole(line)):
        raise InputError(
            f"{path}: the journal is damaged at byte {place:,}. Restore the file from a copy."
        )
    with path.open("rb") as file:
        head = file.read(len(HEAD))
    if not place and any(there not in {0, meant} for there, meant in zip(head, HEAD, strict=False)):
        raise InputError(f"{path}: not a journal, or a journal of another version.")


def _line(content: bytes, flushed: int) -> bytes:
    text = b"%x %b\n" % (flushed, content)
    return b"%08x %b" % (crc32(text), text)


def _is_whole(line: bytes) -> bool:
    return line[:CHECKSUM] == b"%08x" % crc32(line[CHECKSUM + 1 :])


def _flushed(line: bytes) -> int:
    return int(line[CHECKSUM + 1 :].partition(b" ")[0], 16)


def _content(line: bytes) -> bytes:
    return line[line.index(b" ", CHECKSUM + 1) + 1 : -1]


def _opened(path: Path, *, reading: bool = False) -> int:
    try:
        if reading:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _failure(path, error) from None


def _failure(path: Path, error: OSError) -> StorageError:
    return StorageError(error.errno, error.strerror, str(path))
