"""The ledger: a log of operations, one JSON line each, appended once and never changed.

Each line names its operation and ends with a checksum of all before it:

    {"op": "task-12/mutate", "clock": 9, "value": {"parent": "c5"}, "files": […], "crc": "5f1d…"}

The clock of a line is greater than the clocks of all lines in the file when it was appended
(Lamport 1978). So lines of copies written independently have one order, whoever merges them: by
their clocks, then by their operations. A line without a clock uses its number in the file.

An operation is done when its line is complete and on disk. The files that a line names are written
before it, so a reader of lines never sees a part of an operation. Files that no line names belong
to an interrupted operation.

Appending flushes line by line, so a crash can leave only the last line unfinished. The next append
removes it and reports that. Any other damage has another cause and is an error.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain, islice
from operator import lt
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson

from ...schema.values.errors import StorageError
from ...schema.values.files import append, locked, sync, truncate, write_atomically
from ...schema.values.json_text import loads
from ...schema.values.values import is_list
from ..values.places import Places

SEAL = b', "crc": "%08x"}\n'
SEAL_BYTES = len(SEAL % 0)
OF_A_FORM = frozenset({"evaluated", "failed", "learnt"})
"""The most frequent kinds of lines, in which a whole number that is no integer is an error."""
LONG_NUMBER = re.compile(rb"[0-9]{19}")
"""Matches a possible number of more than 64 bits, which orjson reads as a float."""
HALF = "does not match its checksum"
"""The problem of a damaged line, or of a last one that is not yet complete."""
MOST_AT_ONCE = 128
"""The number of lines that are read at once: so few that no search for garbage starts meanwhile."""
_new: Any = tuple.__new__
"""Makes a named tuple in a third of the time: a pool has a million lines."""
IMPORTED = "import/"
"""The prefix of operations that import a team of another pool."""


class LedgerPosition(NamedTuple):
    """A position in a ledger: the number of lines, the number of bytes, and the last line's seal.

    A tuple, like `LedgerEntry`, because a pool has many lines.
    """

    line: int
    offset: int
    seal: bytes


START = LedgerPosition(line=0, offset=0, seal=b"")


class TooEarly(ValueError):
    """A line refers to something that no earlier line has created. A merge may cause this."""


class _Replaced(StorageError):
    """The file is not the one whose lines were read before."""


class LedgerEntry(NamedTuple):
    """A line of a ledger.

    Attributes:
        op: Its operation.
        value: The appended value.
        files: The files that became valid with it, relative to the ledger's folder.
        clock: A number greater than the clocks of all earlier lines.
        number: The number of lines up to it.
        start: The offset of its first byte.
        size: The number of its bytes.
        seal: Its last bytes, with its checksum.
    """

    op: str
    value: Mapping[str, Any]
    files: tuple[str, ...] = ()
    clock: int = 0
    number: int = 0
    start: int = 0
    size: int = 0
    seal: bytes = b""

    @property
    def end(self) -> LedgerPosition:
        """The position after it."""
        return LedgerPosition(self.number, self.start + self.size, self.seal)

    @property
    def order(self) -> tuple[int, str]:
        """The sort key of lines when copies of a pool are merged."""
        return self.clock, self.op

    @property
    def rank(self) -> tuple[bool, bool, int, bytes]:
        """The sort key of lines of one operation in several copies: the least one counts.

        One copy may say that the pool is shared. If both imported the same team of another pool,
        one may have had a duplicate of it. Lines that came after the earliest one stay after it.
        """
        kind = self.value.get("kind")
        return not self.value.get("shared"), kind != "born", self.clock, self.seal

    def is_like(self, other: LedgerEntry) -> bool:
        """Return whether a line of the same operation has the same content, at whatever time."""
        return (self.value, self.files) == (other.value, other.files)

    def agrees(self, other: LedgerEntry) -> bool:
        """Return whether one of two lines of an operation can replace the other."""
        kinds = [each.value.get("kind") for each in (self, other)]
        is_import = self.op.startswith(IMPORTED) and kinds != ["born", "born"]
        return is_import or kinds == ["pool", "pool"] or self.is_like(other)


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerIndex:
    """The index of a ledger's lines up to a position, to continue from there.

    Attributes:
        ops: The beginning of each operation's line.
        repeats: The positions after exact repetitions of earlier lines, by where they begin.
        parts: The size and the SHA-256 of each piece that was read.
        latest: The order of the line that is last by order.
        is_mixed: Whether lines are out of order.
    """

    place: LedgerPosition = START
    ops: Places = field(default_factory=Places)
    files: frozenset[str] = frozenset()
    repeats: Mapping[int, LedgerPosition] = field(default_factory=dict[int, LedgerPosition])
    parts: tuple[tuple[int, str], ...] = ()
    latest: tuple[int, str] = (0, "")
    is_mixed: bool = False


class Ledger:
    """A ledger. Any number of threads and processes of one machine may read and append.

    Args:
        path: Its file, in an existing folder. A hidden file beside it is the lock.
        report: Receives a message when an unfinished line is removed. Default: the log.
        index: The index of its first lines, which are not read again.
    """

    def __init__(
        self,
        path: Path,
        *,
        report: Callable[[str], None] | None = None,
        index: LedgerIndex | None = None,
    ) -> None:
        self.path = path
        self._report = report or logging.getLogger(__name__).warning
        self._turn = threading.Lock()
        self._flushed = START
        self._learn(index or LedgerIndex())

    @property
    def is_mixed(self) -> bool:
        """Whether the lines read are out of order, as after a merge by git."""
        return self._is_mixed

    @property
    def lock(self) -> Path:
        """The lock file that prevents others from appending: `with locked(ledger.lock)`."""
        return self.path.with_name(f".{self.path.name}.lock")

    def append(self, value: Mapping[str, Any], *, op: str) -> bool:
        """Append an operation to disk; return false if it was there already.

        Args:
            op: The operation's unique name.
        """
        return self.commit(value, op=op, files={})

    def commit(self, value: Mapping[str, Any], *, op: str, files: Mapping[str, str]) -> bool:
        """Write files and append their operation: everything counts, or nothing.

        Args:
            value: The value to record, as in `append`.
            files: The text of each file by its name, relative to the ledger's folder, with `/`. Its
                folder exists. A file is written once: no earlier line may name it.

        Returns:
            Whether it was done; false: the operation was there already, and nothing was changed.

        Raises:
            StorageError: A file or the ledger cannot be written, or the ledger is damaged.
        """
        with locked(self.lock):
            self._catch_up()
            clock = self._latest[0] + 1
            line = line_of(value, op, files, clock)
            if self.find(op) is not None:
                return False
            if names := self._files.intersection(files):
                raise ValueError(f"an earlier operation wrote {sorted(names)}; take other names.")
            # Files first: a crash may leave files without a line, but no line without its files.
            for name, text in files.items():
                write_atomically(self.path.parent / name, text)
            append(self.path, line)
            entry = LedgerEntry(
                op=op,
                value=value,
                files=tuple(files),
                clock=clock,
                number=self._place.line + 1,
                start=self._place.offset,
                size=len(line),
                seal=line[-SEAL_BYTES:],
            )
            self._is_repeat(entry, line)
            self._flushed = entry.end
        return True

    def read(self, after: LedgerPosition = START) -> Iterator[LedgerEntry]:
        """Yield the lines after a position, one at a time.

        To follow a ledger, continue from the `end` of the last entry. An unfinished line is not
        yielded. A yielded line may be lost if the power fails while it is being appended.

        Raises:
            StorageError: A line is damaged, the ledger cannot be read, or the position is in
                another one.
        """
        while True:
            try:
                for entries in self._scan(after):
                    yield from entries
                    after = entries[-1].end
            except StorageError:
                # An unfinished line may have been replaced while we read it, unless nobody can
                # append. Under the lock this raises again if the damage is real.
                if not os.access(self.lock, os.W_OK):
                    raise
                with locked(self.lock):
                    next(self._scan(after), None)
            else:
                return

    def rewrite(self, change: Callable[[Sequence[LedgerEntry]], Iterable[bytes] | None]) -> None:
        """Rewrite the ledger atomically: a crash leaves either the old one or the new one.

        Readers of the old one cannot continue from their position.

        Args:
            change: Returns the new lines for the old ones, see `line_of`; None keeps the old
                ledger.
        """
        with locked(self.lock):
            self._catch_up()
            lines = change([*chain.from_iterable(self._scan(START))])
            if lines is not None:
                write_atomically(self.path, (line.decode() for line in lines))
                self._forget()
            self._is_mixed = False

    def orphans(self, pattern: str) -> list[str]:
        """List the files that no line names, left by interrupted operations.

        Args:
            pattern: The files to check, as a glob relative to the ledger's folder: `teams/*`.
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

    def find(self, op: str) -> LedgerEntry | None:
        """Return the line of an operation that was read; None if there was none.

        Raises:
            StorageError: The file is not the one that was read.
        """
        with self._turn:
            return self._of(op, self._ops.find(op))

    def past_repeats(self, place: LedgerPosition) -> LedgerPosition:
        """Return the position after the repetitions of earlier lines that follow a position."""
        with self._turn:
            while place.offset in self._repeats:
                place = self._repeats[place.offset]
        return place

    @contextmanager
    def at_rest(self) -> Generator[LedgerIndex]:
        """Prevent appends in a `with` block, and yield the index of the lines read."""
        with locked(self.lock), self._turn:
            size = self._place.offset - sum(before for before, _ in self._parts)
            yield LedgerIndex(
                place=self._place,
                ops=self._ops,
                files=frozenset(self._files),
                repeats=dict(self._repeats),
                parts=(*self._parts, (size, self._last.hexdigest())),
                latest=self._latest,
                is_mixed=self._is_mixed,
            )

    def _forget(self) -> None:
        self._flushed = START
        self._learn(LedgerIndex())

    def _learn(self, index: LedgerIndex) -> None:
        self._place = index.place
        self._ops = index.ops
        self._parts, self._last = index.parts, hashlib.sha256()
        self._repeats: dict[int, LedgerPosition] = {**index.repeats}
        self._files: set[str] = {*index.files}
        self._latest, self._is_mixed = index.latest, index.is_mixed

    def _of(self, op: str, places: Sequence[int]) -> LedgerEntry | None:
        """Return the first line of an operation at one of these offsets."""
        entries = lines_at(self.path, places) if places else ()
        return next((entry for entry in entries if entry.op == op), None)

    def _fresh(self, entries: list[LedgerEntry], lines: list[bytes]) -> list[LedgerEntry]:
        """Return the lines that repeat no earlier one, of lines in a row."""
        if self._add_all(entries, lines):
            return entries
        pairs = zip(entries, lines, strict=False)
        return [entry for entry, line in pairs if not self._is_repeat(entry, line)]

    def _add_all(self, entries: list[LedgerEntry], lines: list[bytes]) -> bool:
        """Add lines in a row to the index; return false if they need a look at each."""
        with self._turn:
            clocks = [self._latest[0], *(entry.clock for entry in entries)]
            are_next = bool(entries) and entries[0].start == self._place.offset
            if not are_next or not all(map(lt, clocks, clocks[1:])):
                return False
            places = [entry.start for entry in entries]
            if not self._ops.add_new([entry.op for entry in entries], places):
                return False
            self._latest, self._place = entries[-1].order, entries[-1].end
            self._files.update(*(entry.files for entry in entries if entry.files))
            self._last.update(b"".join(lines[: len(entries)]))
            return True

    def _is_repeat(self, entry: LedgerEntry, line: bytes) -> bool:
        """Return whether a line exactly repeats an earlier one, as after a merge by git."""
        op, end = entry.op, entry.end
        with self._turn:
            if entry.start != self._place.offset:
                # It was read before, or not all ahead of it was.
                return self._repeats.get(entry.start, START).seal == entry.seal
            first = self._of(op, self._ops.find(op))
            self._ops.add(op, entry.start)
            is_repeat, order = first is not None and self._is_same(first, entry), entry.order
            if is_repeat:
                self._repeats[entry.start] = end
            elif first is not None or order < self._latest:
                # Of two lines that agree, whoever puts all in order keeps the one that counts.
                self._is_mixed = True
            self._latest = max(self._latest, order)
            if entry.files:
                self._files.update(entry.files)
            self._last.update(line)
            self._place = end
            return is_repeat

    def _is_same(self, first: LedgerEntry, entry: LedgerEntry) -> bool:
        """Return whether two lines of an operation are the same.

        Raises:
            StorageError: They contradict each other.
        """
        if not first.agrees(entry):
            what = f"repeats the operation {entry.op!r} with different content"
            raise self._damage(self._place, f"{what}, as if two branches continued the same work")
        return first.is_like(entry)

    def _catch_up(self) -> None:
        """Read lines that others appended, and remove leftovers of a crash, under the lock."""
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
        for _ in self._scan(self._place):
            pass

    def _remove_unfinished(self) -> None:
        end = self.path.stat().st_size if self.path.exists() else 0
        if end > self._place.offset:
            truncate(self.path, self._place.offset)
            self._report(
                f"{self.path}: line {self._place.line + 1} was left unfinished when a process or"
                f" the machine stopped: bytes {self._place.offset} to {end} were removed."
            )

    def _scan(self, after: LedgerPosition) -> Iterator[list[LedgerEntry]]:
        """Yield the lines after a position, some at once; only the last one may be incomplete."""
        damage = None
        for lines in self._blocks(after):
            if damage is not None:
                raise damage
            entries, problem = _entries_of(lines, after)
            if fresh := self._fresh(entries, lines):
                yield fresh
            after = entries[-1].end if entries else after
            if problem:
                damage = self._damage(after, problem)
                # Only the last line can be half: a line after it shows that no crash cut it short.
                if problem != HALF or len(lines) > len(entries) + 1:
                    raise damage

    def _blocks(self, after: LedgerPosition) -> Iterator[list[bytes]]:
        """Yield the lines after a position, some in a row at once, which takes less time."""
        try:
            with self.path.open("rb") if self.path.exists() else BytesIO() as stream:
                # The checksum of the last line that was read: is this still the same file?
                stream.seek(after.offset - len(after.seal))
                if stream.read(len(after.seal)) != after.seal:
                    raise _Replaced(f"{self.path}: not the file that was read; begin at START.")
                while lines := [*islice(stream, MOST_AT_ONCE)]:
                    yield lines
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be read: {error.strerror}.") from error

    def _damage(self, place: LedgerPosition, problem: str) -> StorageError:
        return StorageError(
            f"{self.path}: line {place.line + 1} (from byte {place.offset} on) {problem}. This is"
            " not from a crash: the file was edited or merged, or the disk is failing. Restore it"
            " from version control or a backup."
        )


def line_of(
    value: Mapping[str, Any], op: str, files: Iterable[str] = (), clock: int | None = None
) -> bytes:
    """Return the line of an operation, for rewriting a ledger."""
    for name in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"{name!r} is not in the ledger's folder.")
    named = {"files": sorted(files)} if files else {}
    timed = {} if clock is None else {"clock": clock}
    fields = {"op": op, **timed, "value": value, **named}
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    return _sealed(text.removesuffix("}").encode("utf-8", "backslashreplace"))


def _sealed(content: bytes) -> bytes:
    return content + SEAL % zlib.crc32(content)


def _entries_of(lines: Sequence[bytes], start: LedgerPosition) -> tuple[list[LedgerEntry], str]:
    """Return lines in a row up to the first damaged one, and what is wrong with that."""
    entries: list[LedgerEntry] = []
    number, offset, _ = start
    try:
        for line, fields in zip(lines, _decoded(lines), strict=True):
            number += 1
            entry = entry_of(line, number, offset, fields)
            if entry is None:
                return entries, HALF
            entries.append(entry)
            offset += len(line)
    except ValueError as error:
        return entries, str(error)
    return entries, ""


def _decoded(lines: Sequence[bytes]) -> Sequence[Any]:
    """Return the values of lines, decoded at once; None for each line if one of them has none."""
    try:
        values = orjson.loads(b"[%b]" % b",".join(lines))
    except ValueError:
        values = []
    return values if len(values) == len(lines) else [None] * len(lines)


def entry_of(
    line: bytes, number: int = 1, start: int = 0, fields: Any = None
) -> LedgerEntry | None:
    """Parse a line of a ledger; None if it does not match its checksum.

    Args:
        number: Its number in the ledger.
        start: The offset of its first byte.
        fields: Its value, if it was decoded before.

    Raises:
        ValueError: It matches, but has invalid content: someone wrote it by hand.
    """
    seal = line[-SEAL_BYTES:]
    if seal != SEAL % zlib.crc32(line[:-SEAL_BYTES]):
        return None
    if fields is None:
        fields = _fields_of(line)
    if type(fields) is not dict:
        raise ValueError("is not an object")
    op, value = fields.get("op"), fields.get("value")
    if type(op) is not str or type(value) is not dict:
        raise ValueError("needs 'op' (a string) and 'value' (an object)")
    if value.get("kind") not in OF_A_FORM and LONG_NUMBER.search(line):
        value = loads(line)["value"]
    clock = fields.get("clock", number)
    if type(clock) is not int:
        raise ValueError("has a 'clock' that is not an integer")
    names = _names_in(fields["files"]) if "files" in fields else ()
    return _new(LedgerEntry, (op, value, names, clock, number, start, len(line), seal))


def _fields_of(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except ValueError:
        pass
    try:
        return loads(line)  # which also reads lone surrogates
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None


def _names_in(files: Any) -> tuple[str, ...]:
    if not is_list(files) or not all(isinstance(name, str) for name in files):
        raise ValueError("has 'files' that are not a list of names")
    if any(name.startswith("/") or ".." in name.split("/") for name in files):
        raise ValueError("has 'files' that are not in the ledger's folder")
    return tuple(map(str, files))


def lines_at(path: Path, offsets: Iterable[int]) -> Iterator[LedgerEntry]:
    """Read the lines at some offsets. Their numbers are unknown.

    Args:
        offsets: The offsets of their first bytes, from an earlier reading.

    Raises:
        StorageError: The ledger cannot be read, or such a line is not there any more.
    """
    stream = None
    try:
        for offset in offsets:
            stream = stream or path.open("rb")
            stream.seek(offset)
            yield _line_at(path, stream.readline(), offset)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error
    finally:
        if stream is not None:
            stream.close()


def _line_at(path: Path, line: bytes, offset: int) -> LedgerEntry:
    try:
        entry = entry_of(line, start=offset)
    except ValueError:
        entry = None
    if entry is None:
        raise _Replaced(f"{path}: not the file that was read: no line begins with byte {offset}.")
    return entry
