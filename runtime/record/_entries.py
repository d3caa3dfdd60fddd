"""Entries of a file: written at once, and flushed soon, before anything that depends on them.

Written entries survive the end of the process; flushed entries survive the end of the machine. The
file is a log, so the flushed part is always a prefix of the written part: nothing survives that
depends on something lost. That is why an answer may be used as soon as it is written, and only
irreversible actions wait for the disk (Strom and Yemini, Optimistic Recovery in Distributed
Systems, 1985; databases call it asynchronous commit).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import orjson

from ...schema.values.codec import Misfit, from_value
from ...schema.values.errors import InputError, StorageError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ..values.encoded import encoded
from ..values.usage import Usage
from .costs import ATTEMPTS, Attempt, Cost, Costs
from .log_file import LogFile, lines_at, lines_of, write_whole

LAG = 0.1
"""Seconds until new entries are written and flushed if nothing waits for them."""
AHEAD = 0.01
"""Seconds after a run's start until the files beside a new journal are flushed."""
FLUSHES = 16
"""The most files to flush at once. A disk does flushes that wait together as one."""
CLOCK = "clock"
"""The path of entries that only record how long the run has worked; nothing looks them up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalEntry:
    """A recorded value: see `Journal`. `moment` is in seconds since the run began."""

    path: str
    kind: str
    key: str
    value: Mapping[str, Any]
    moment: float


class _Head(NamedTuple):
    """The beginning of a line's content; a tab and the value follow, both as JSON."""

    path: str
    kind: str
    key: str
    moment: float


_Line: TypeAlias = "tuple[_Head, bytes]"
"""The head of a line, and the text of its value."""


@dataclass(kw_only=True, eq=False)
class Entries:
    """A file of entries.

    Attributes:
        last_moment: The moment of the last entry; 0 without entries.
    """

    path: Path
    last_moment: float = 0.0
    _file: LogFile
    _places: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    _costs: Costs | None = None
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _waiting: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    _writing: threading.RLock = field(default_factory=threading.RLock)
    _flushes: asyncio.AbstractEventLoop | None = None

    @classmethod
    def open(cls, path: Path, *, reading: bool = False) -> Self:
        """Open a file of entries, or create it.

        Args:
            reading: Only read it: nothing is created or changed.

        Raises:
            InputError: The file has another format or is damaged, or is to be read and does not
                exist.
            StorageError: The file cannot be created.
        """
        places: dict[str, tuple[int, ...]] = {}
        last = 0.0

        def note(place: int, content: bytes) -> None:
            nonlocal last
            head, _ = _parted(path, content)
            last = max(last, head.moment)
            _note(places, head.path, place)

        file = LogFile.open(path, note, reading=reading)
        costs = None if places else Costs()
        return cls(path=path, last_moment=last, _file=file, _places=places, _costs=costs)

    def has(self, path: str) -> bool:
        """Return whether a path has an entry, for any question."""
        return path in self._places or any(path == waiting for waiting, _ in self._waiting)

    def get(self, path: str, key: str) -> JournalEntry | None:
        """Return the entry of a path for a question; None without one."""
        lines = self._lines_of(path)
        return next((_entry(self.path, *line) for line in lines if line[0].key == key), None)

    def latest(self, path: str) -> JournalEntry | None:
        """Return the latest entry of a path."""
        return next((_entry(self.path, *line) for line in self._lines_of(path)), None)

    def values(self, kind: str, under: str) -> list[Mapping[str, Any]]:
        """Return the values of a kind whose paths begin with `under`, sorted by path."""
        self._write_here()
        paths = sorted(path for path in self._places if path.startswith(under))
        lines = (line for path in paths for line in self._lines_of(path))
        return [_entry(self.path, *line).value for line in lines if line[0].kind == kind]

    @functools.cached_property
    def answers(self) -> Mapping[str, int]:
        """The number of answers to each question, as of the first read of this property."""
        return Counter(head.key for head, _ in self._all() if head.kind == "model")

    def number(self, path: str) -> int:
        """Return the number of the next entry of a path, from 1, unique for each call."""
        if path not in self._numbers:
            self._numbers[path] = len([*self._lines_of(path)])
        self._numbers[path] += 1
        return self._numbers[path]

    def paid(self, under: str) -> Iterator[Cost]:
        """Return the cost of calls whose paths begin with `under`, and whether it is settled."""
        if self._costs is None:
            costs = Costs()
            for head, text in self._all():
                if head.kind == "attempt":
                    attempt: Attempt = _parsed(self.path, head, text)[1]
                    costs.attempt(head.path, head.key, attempt.usage, attempt.state)
                elif head.kind == "model" and not self.has(f"{head.path}{ATTEMPTS}"):
                    costs.answer(head.path, head.key, _parsed(self.path, head, text)[1].usage)
            self._costs = costs
        return self._costs.under(under)

    def all(self, *, without: Sequence[str] = ()) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield path, question and value of every entry, except those of some kinds."""
        for head, text in self._all():
            if head.kind not in without:
                yield head.path, head.key, _entry(self.path, head, text).value

    def put(
        self,
        path: str,
        kind: str,
        key: str,
        value: Mapping[str, Any],
        moment: float,
        *,
        cost: Cost | None = None,
        at_once: bool = True,
    ) -> None:
        """Write an entry; see `JournalEntry`.

        Args:
            at_once: Whether to return only once it is written. Otherwise it is written before any
                later entry, or within `LAG` seconds. Use that for an entry that can be derived from
                earlier ones, and where waiting is impossible.

        Raises:
            StorageError: The entry cannot be written.
        """
        text = b"%b\t%b" % (encoded((path, kind, key, moment)), encoded(value, repr))
        with self._writing:
            self._waiting.append((path, text))
            if at_once:
                try:
                    self._write()
                except BaseException:
                    # The caller gets the error, so no later write may add the entry.
                    self._waiting.remove((path, text))
                    raise
        self.last_moment = max(self.last_moment, moment)
        if self._costs is not None:
            if cost is not None:
                self._costs.attempt(path, key, *cost)
            elif kind == "model" and not self._costs.has_attempts(path):
                self._costs.answer(path, key, from_value(Usage, value["usage"]))
        if self._flushes is None or self._flushes.is_closed():
            self._flush_soon(asyncio.get_running_loop())

    def remove(self, paths: Iterable[str]) -> None:
        """Delete the entries of paths.

        Raises:
            StorageError: The file cannot be written.
        """
        removed = {*paths}
        with self._writing:
            self._write_here()
            places = {path: at for path, at in self._places.items() if path not in removed}
            self._file.rewrite(sorted(place for at in places.values() for place in at))
            # Every remaining line has moved, so all known offsets are invalid.
            self._places, self._costs = {}, None
            for place, content in lines_of(self.path):
                _note(self._places, _parted(self.path, content)[0].path, place)

    async def flush(self) -> None:
        """Wait until all entries so far are on disk.

        Raises:
            StorageError: They cannot be written or flushed.
        """
        self._write_here()
        if not self._file.is_flushed:
            await asyncio.wrap_future(_in_thread(self._file.flush))

    def flush_now(self) -> None:
        """Flush all entries so far, in the caller's thread."""
        self._write_here()
        self._file.flush()

    def flushing(self) -> Future[None]:
        """Flush all entries so far, in a thread; return a future for its completion."""
        with contextlib.suppress(StorageError):  # the future raises it
            self._write_here()
        return _in_thread(self._file.flush)

    def flush_ahead(self) -> None:
        """Schedule a flush of the files beside this one, while the event loop is idle."""
        self._flush_soon(asyncio.get_running_loop(), AHEAD)

    def close(self) -> None:
        """Write and flush pending entries, and close the file."""
        try:
            self._write_here()
        finally:
            self._file.close()

    def _write(self) -> None:
        places = self._file.append([text for _, text in self._waiting])
        for (path, _), place in zip(self._waiting, places, strict=True):
            _note(self._places, path, place)
        self._waiting.clear()

    def _write_here(self) -> None:
        """Write pending entries so that reads find them; a failure also reaches the next writer."""
        with self._writing:
            if not self._waiting:
                return
            try:
                self._write()
            except StorageError as failure:
                # Nothing waits for these entries: the next write or flush raises the error.
                self._file.failure = failure
                self._waiting.clear()
                raise

    def _flush_soon(self, loop: asyncio.AbstractEventLoop, lag: float | None = None) -> None:
        """Schedule writing and flushing the entries, unless that is already scheduled."""
        if self._flushes is not None and not self._flushes.is_closed():
            return

        def soon() -> None:
            self._flushes = None
            with contextlib.suppress(StorageError):
                self._write_here()
            if not self._file.is_flushed and self._file.failure is None:
                _in_thread(self._file.try_flush)

        self._flushes = loop
        loop.call_later(LAG if lag is None else lag, soon)

    def _lines_of(self, path: str) -> Iterator[_Line]:
        """Yield the lines of a path, the last first; only the last of several for one question."""
        if not self.has(path):
            return
        self._write_here()
        keys = set[str]()
        for place in reversed(self._places.get(path, ())):
            head, text = _parted(self.path, self._file.read(place))
            if head.key not in keys:
                keys.add(head.key)
                yield head, text

    def _all(self) -> Iterator[_Line]:
        self._write_here()
        for path in [*self._places]:
            yield from self._lines_of(path)


def _in_thread(work: Callable[[], None]) -> Future[None]:
    return _threads(os.getpid()).submit(work)


@functools.cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Return the threads that flush all journals of a process; a fork has none of its parent's."""
    return ThreadPoolExecutor(FLUSHES, f"journal-{process}")


def _note(places: dict[str, tuple[int, ...]], path: str, place: int) -> None:
    if path != CLOCK:
        places[path] = (*places.get(path, ()), place)


def _parted(file: Path, content: bytes) -> _Line:
    """Split a line into its head and the text of its value."""
    head, _, text = content.partition(b"\t")
    match _head(head):
        case [str(path), str(kind), str(key), int() | float() as moment]:
            return _Head(path, kind, key, moment), text
        case _:
            raise InputError(f"{file}: the journal is damaged: {head[:80]!r} is not an entry.")


def _head(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            return loads(text)  # which also reads lone surrogates
        return None


def _entry(file: Path, head: _Head, text: bytes) -> JournalEntry:
    value = _parsed(file, head, text)[0]
    return JournalEntry(
        path=head.path, kind=head.kind, key=head.key, value=value, moment=head.moment
    )


def _parsed(file: Path, head: _Head, text: bytes) -> tuple[Mapping[str, Any], Any]:
    """Parse an entry's value, which anyone may have changed, into JSON and into its class."""
    try:
        value = loads(text)
        return value, from_value(_forms().get(head.kind, Mapping[str, Any]), value)
    except Misfit as wrong:
        raise StorageError(
            f"{file}: the entry {quoted(head.path)} ({head.kind}) is damaged: {wrong}."
        ) from None
    except ValueError as error:
        raise StorageError(f"{file}: the entry {quoted(head.path)} is not JSON: {error}.") from None


@functools.cache
def _forms() -> Mapping[str, type[Any]]:
    """Return the classes of values, by their kind; other values are checked by their readers."""
    from ..agents.outcomes import JournaledOutcome, Run
    from ..gateway import ChatAnswer

    return {
        "agent": JournaledOutcome,
        "attempt": Attempt,
        "model": ChatAnswer,
        "run": Run,
    }


def unite(paths: Iterable[Path], into: Path) -> None:
    """Create a file from the entries of several; of equal path and question, the first counts.

    Raises:
        InputError: A file is missing, or has another format.
        StorageError: The file cannot be created.
    """

    def contents() -> Iterator[bytes]:
        earlier = set[tuple[str, str]]()
        for path in paths:
            heads = ((_parted(path, content)[0], place) for place, content in lines_of(path))
            last = {(head.path, head.key): place for head, place in heads}
            yield from lines_at(path, [place for key, place in last.items() if key not in earlier])
            earlier |= last.keys()

    write_whole(into, contents())


def read_only(path: Path, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield path and value of all entries of a kind, in the order in which they were written.

    Nothing is locked or changed.
    """
    heads = ((_parted(path, content)[0], place) for place, content in lines_of(path))
    last = {
        (head.path, head.key): (head.moment, place) for head, place in heads if head.kind == kind
    }
    for content in lines_at(path, [place for _, place in sorted(last.values())]):
        head, text = _parted(path, content)
        yield head.path, _parsed(path, head, text)[0]
