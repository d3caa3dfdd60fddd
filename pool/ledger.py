"""The ledger: what was done, one line of JSON each, appended once and never changed.

Each line names its operation and ends with a checksum of all before it:

    {"op": "task-12/mutate", "value": {"parent": "c5"}, "files": ["teams/d8.yaml"], "crc": "5f1d…"}

An operation is done when its line is whole and on disk. The files that a line names were written
before it, so whoever goes by the lines never sees a part of an operation. Files that no line names
are left from an operation that did not get to its line.

Appending waits for the disk, line by line, so a crash can leave only the last line unfinished. The
next to append removes it and says so. Any other damage was not done by a crash, and is an error.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ..schema.errors import StorageError
from ..schema.files import append, locked, sync, truncate, write_atomically
from ..schema.json_text import loads
from ..schema.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["START", "Entry", "Ledger", "Place", "TooEarly", "entry_of", "line_of"]

SEAL = b', "crc": "%08x"}\n'
SEAL_BYTES = len(SEAL % 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """How far a ledger was read: this many lines, which are this many bytes and end like this."""

    line: int
    offset: int
    seal: bytes

    def after(self, line: bytes) -> Place:
        """Give the place after the next line."""
        end = self.offset + len(line)
        return Place(line=self.line + 1, offset=end, seal=line[-SEAL_BYTES:])


START = Place(line=0, offset=0, seal=b"")


class TooEarly(ValueError):
    """A line refers to what no line before it has brought. A merge may leave them so."""


class _Replaced(StorageError):
    """Not the file whose lines were read before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A line of a ledger.

    Attributes:
        op: The operation that it records.
        value: What was appended.
        files: The files that became valid with it, relative to the ledger's folder.
        end: Where the next line begins.
    """

    op: str
    value: Mapping[str, Any]
    files: tuple[str, ...]
    end: Place


class Ledger:
    """A ledger. Any number of threads and processes of one machine may read and append.

    Args:
        path: Its file, in a folder that exists. A hidden file beside it is the lock.
        report: Told when the unfinished line of a crash is removed. By default it is logged.
    """

    def __init__(self, path: Path, *, report: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._report = report or logging.getLogger(__name__).warning
        self._turn = threading.Lock()
        self._forget()

    @property
    def lock(self) -> Path:
        """The file whose lock keeps all others from appending: `with locked(ledger.lock)`."""
        return self.path.with_name(f".{self.path.name}.lock")

    def append(self, value: Mapping[str, Any], *, op: str) -> bool:
        """Append an operation; it is on disk when this returns. False: it was there already.

        Args:
            value: What to record, JSON-able.
            op: The operation, by a name that no other has.

        Raises:
            StorageError: The ledger cannot be written, or is damaged.
        """
        return self.commit(value, op=op, files={})

    def commit(self, value: Mapping[str, Any], *, op: str, files: Mapping[str, str]) -> bool:
        """Write files and append the operation that they belong to: all of it counts, or nothing.

        Args:
            value: What to record, as for `append`.
            op: The operation.
            files: The text of each file by its name, relative to the ledger's folder, with `/`.
                Its folder exists. A file is written once: no earlier line may name it.

        Returns:
            Whether it was done; False: the operation was there already, and nothing was touched.

        Raises:
            StorageError: A file or the ledger cannot be written, or the ledger is damaged.
        """
        line = line_of(value, op, files)
        with locked(self.lock):
            self._catch_up()
            if op in self._ops:
                return False
            if taken := self._files.intersection(files):
                raise ValueError(f"an earlier operation wrote {sorted(taken)}; take other names.")
            for name, text in files.items():
                write_atomically(self.path.parent / name, text)
            append(self.path, line)
            end = self._place.after(line)
            self._is_repeat(op, self._place, end)
            self._know(files, end)
            self._flushed = self._place
        return True

    def read(self, after: Place = START) -> Iterator[Entry]:
        """Give the lines that stand after a place, one at a time.

        To follow a ledger, go on from the `end` of the last entry. A line that is not finished is
        not given. A line that is given may be lost if the power fails while it is being appended.

        Raises:
            StorageError: A line is damaged, the ledger cannot be read, or it is not the one that
                the place is in.
        """
        while True:
            try:
                for entry in self._scan(after):
                    after = entry.end
                    yield entry
            except StorageError:
                # An unfinished line may have been replaced while we read it, unless nobody can
                # append. Under the lock this raises again if the damage is real.
                if not os.access(self.lock, os.W_OK):
                    raise
                with locked(self.lock):
                    next(self._scan(after), None)
            else:
                return

    def rewrite(self, change: Callable[[Sequence[Entry]], Iterable[bytes] | None]) -> None:
        """Write the ledger anew in one piece: a crash leaves either the old one or the new one.

        Who has read the old one cannot go on from there. That is for changes of the format.

        Args:
            change: Makes the new lines from the old ones, see `line_of`; None: all stays.

        Raises:
            StorageError: The ledger cannot be written, or is damaged.
        """
        with locked(self.lock):
            self._catch_up()
            lines = change([*self._scan(START)])
            if lines is not None:
                write_atomically(self.path, (line.decode() for line in lines))
                self._forget()

    def orphans(self, pattern: str) -> list[str]:
        """List the files that no line names: what operations left that did not get to their line.

        Args:
            pattern: Where to look, as a glob relative to the ledger's folder: `teams/*`.

        Raises:
            StorageError: The ledger is damaged, or cannot be read.
        """
        folder = self.path.parent
        with locked(self.lock):
            self._catch_up()
            files = {
                path.relative_to(folder).as_posix()
                for path in folder.glob(pattern)
                if path.is_file() and path not in {self.path, self.lock}
            }
        return sorted(files - self._files)

    def _forget(self) -> None:
        self._place = self._flushed = START
        self._ops: dict[str, bytes] = {}
        self._read_to = 0
        self._repeats: dict[int, bytes] = {}
        self._files: set[str] = set()

    def _know(self, files: Iterable[str], end: Place) -> None:
        self._files.update(files)
        self._place = end

    def _is_repeat(self, op: str, start: Place, end: Place) -> bool:
        """Tell whether a line was there before, to the letter, as where git merged branches.

        Raises:
            StorageError: There is one of the same operation that says something else.
        """
        with self._turn:
            if start.offset != self._read_to:  # it was read before, or not all ahead of it was
                return self._repeats.get(start.offset) == end.seal
            known = self._ops.get(op)
            if known not in {None, end.seal}:
                what = f"repeats the operation {op!r} and says something else"
                raise self._damage(start, f"{what}, as where two branches went on with one thing")
            if known is None:
                self._ops[op] = end.seal
            else:
                self._repeats[start.offset] = end.seal
            self._read_to = end.offset
            return known is not None

    def _catch_up(self) -> None:
        """Take in what others appended, and remove what a crash left. The lock is held."""
        try:
            self._take_in()
        except _Replaced:  # a person restored it, or version control did
            self._forget()
            self._take_in()
        self._remove_unfinished()
        if self._place != self._flushed:
            sync(self.path)  # who appended last may have died before the disk had it
            self._flushed = self._place

    def _take_in(self) -> None:
        for entry in self._scan(self._place, repeats=True):
            self._know(entry.files, entry.end)

    def _remove_unfinished(self) -> None:
        end = self.path.stat().st_size if self.path.exists() else 0
        if end > self._place.offset:
            truncate(self.path, self._place.offset)
            self._report(
                f"{self.path}: line {self._place.line + 1} was left unfinished when a process or"
                f" the machine stopped: bytes {self._place.offset} to {end} were removed."
            )

    def _scan(self, after: Place, *, repeats: bool = False) -> Iterator[Entry]:
        """Give the lines after a place; one that is not whole may only be the last.

        Args:
            after: The place.
            repeats: Whether those are given, too, that were there before, to the letter.
        """
        damaged = None
        for line in self._lines(after):
            if damaged is not None:
                raise self._damage(damaged, "does not match its checksum")
            try:
                entry = entry_of(line, after)
            except ValueError as error:
                raise self._damage(after, str(error)) from None
            if entry is None:
                damaged = after
                continue
            is_repeat, after = self._is_repeat(entry.op, after, entry.end), entry.end
            if repeats or not is_repeat:
                yield entry

    def _lines(self, after: Place) -> Iterator[bytes]:
        try:
            with self.path.open("rb") if self.path.exists() else BytesIO() as stream:
                stream.seek(after.offset - len(after.seal))
                if stream.read(len(after.seal)) != after.seal:
                    raise _Replaced(f"{self.path}: not the file that was read; begin at START.")
                yield from stream
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be read: {error.strerror}.") from error

    def _damage(self, place: Place, what: str) -> StorageError:
        return StorageError(
            f"{self.path}: line {place.line + 1} (from byte {place.offset} on) {what}. A crash does"
            " not do this: it was edited or merged, or the disk is failing. Restore the file from"
            " version control or a backup."
        )


def line_of(value: Mapping[str, Any], op: str, files: Iterable[str] = ()) -> bytes:
    """Write the line of an operation, for who writes a ledger anew."""
    for name in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"{name!r} is not in the ledger's folder.")
    named = {"files": sorted(files)} if files else {}
    fields = {"op": op, "value": value, **named}
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    return _sealed(text.removesuffix("}").encode("utf-8", "backslashreplace"))


def _sealed(content: bytes) -> bytes:
    return content + SEAL % zlib.crc32(content)


def entry_of(line: bytes, start: Place = START) -> Entry | None:
    """Read a line of a ledger; None where it does not match its checksum.

    Args:
        line: The line, with its end.
        start: Where it begins.

    Raises:
        ValueError: It matches, and says what no ledger says: someone wrote it by hand.
    """
    if line != _sealed(line[:-SEAL_BYTES]):
        return None
    try:
        fields = loads(line)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not is_mapping(fields):
        raise ValueError("is not an object")
    op, value, files = fields.get("op"), fields.get("value"), fields.get("files", [])
    if not isinstance(op, str) or not is_mapping(value):
        raise ValueError("needs 'op', which is text, and 'value', which is an object")
    if not is_list(files) or not all(isinstance(name, str) for name in files):
        raise ValueError("has 'files' that are no list of names")
    return Entry(op=op, value=value, files=tuple(map(str, files)), end=start.after(line))
