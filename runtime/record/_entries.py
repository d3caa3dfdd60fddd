"""Entries in an sqlite file: written at once, flushed soon after, and before what depends on them.

What is written outlives the process, whatever ends it; what is flushed outlives the machine. The
file is a log, so what was flushed is always the beginning of what was written: nothing is kept
that followed from something lost. That is why an answer may be used as soon as it is written, and
only what cannot be taken back waits for the disk (Strom and Yemini, Optimistic Recovery in
Distributed Systems, 1985; databases call it asynchronous commit).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sqlite3
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from urllib.parse import quote

from ...schema.values.codec import Misfit, from_value
from ...schema.values.errors import InputError, StorageError
from ...schema.values.failpoints import failpoint
from ...schema.values.files import sync, write_atomically
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ..values.bounds import AT_ONCE
from ..values.encoded import encoded
from .attempts import Attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

LAG = 0.1
"""Seconds after which what was put is written and flushed, where nothing waits for it."""
AHEAD = 0.01
"""Seconds after which the files are flushed that stand beside a new one, where a run has begun."""
LARGEST_LOG = 4 << 20
"""Bytes of the log from which on its entries are taken over into the file."""

TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    path TEXT NOT NULL, asked TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
    moment REAL NOT NULL, PRIMARY KEY (path, asked)
)
"""
COLUMNS = "path, asked, kind, value, moment"
INSERT = "INSERT OR REPLACE INTO entries (path, asked, kind, value, moment) VALUES (?, ?, ?, ?, ?)"
DELETE = "DELETE FROM entries WHERE path = ?"
HOW: Mapping[str, Any] = {"timeout": 60, "isolation_level": None, "check_same_thread": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalEntry:
    """Something recorded: see `Journal`. `moment` is in seconds since the run began."""

    path: str
    kind: str
    asked: str
    value: Mapping[str, Any]
    moment: float


_Row: TypeAlias = tuple[str, str, str, str, float]
_Waiting: TypeAlias = "tuple[_Row, asyncio.AbstractEventLoop, asyncio.Future[None] | None]"
"""A row that is to be written, and whom to tell; of one that nobody waits for, nobody."""


@dataclass(kw_only=True, eq=False)
class Entries:
    """A file of entries, in write-ahead mode.

    What is put in one turn of the event loop is committed together, and with it what nobody waited
    for until then. What is long is committed in a thread, and so is everything where other
    processes write to the file, as these may have to be waited for: there, who reads has a
    connection of its own, and does not wait.
    """

    path: Path
    _reader: sqlite3.Connection
    _writer: sqlite3.Connection
    _log: _Log
    _paths: set[str]
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _waiting: list[_Waiting] = field(default_factory=list[_Waiting])
    _committing: threading.Lock = field(default_factory=threading.Lock)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "journal"))
    _due: set[asyncio.AbstractEventLoop] = field(default_factory=set["asyncio.AbstractEventLoop"])
    _in_thread: asyncio.AbstractEventLoop | None = None
    _flushes: asyncio.AbstractEventLoop | None = None
    _is_closed: bool = False

    def __post_init__(self) -> None:
        self._log.before_taking_over = self._flush_beginnings

    @classmethod
    def open(cls, path: Path, *, reading: bool = False, shared: bool = False) -> Self:
        """Open a file of entries, or make it.

        Args:
            reading: Only read it: nothing is made or written, not even beside it.
            shared: Whether other processes write to it, too.

        Raises:
            InputError: It is to be read, and does not exist.
            sqlite3.DatabaseError: It is something else.
            StorageError: It cannot be made.
        """
        if reading and not path.is_file():
            raise InputError(f"{path}: there is no such file.")
        is_new = not shared and not reading and _began(path)
        connection = _reading(path) if reading else _connected(path)
        try:
            if is_new:  # its first log follows no other whose pages could be taken for its own
                known = set[str]()
                connection.execute("PRAGMA synchronous = OFF")
            else:
                known = _known(connection, reading=reading)
        except sqlite3.DatabaseError as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError) and not reading:
                raise StorageError(f"{path}: cannot be written: {error}.") from None
            raise
        writer = _connected(path) if shared else connection
        return cls(
            path=path, _reader=connection, _writer=writer, _log=_Log(path=path), _paths=known
        )

    def has(self, path: str) -> bool:
        """Return whether there is an entry of a path, whatever it answers."""
        return path in self._paths

    def get(self, path: str, key: str) -> JournalEntry | None:
        """Return the entry of a path that answers a question."""
        return self._first_entry("path = ? AND asked = ?", path, key)

    def find(self, path: str, key: str) -> JournalEntry | None:
        """Give an entry that another process may have written meanwhile."""
        self._paths.add(path)
        return self.get(path, key)

    def latest(self, path: str) -> JournalEntry | None:
        """Return the entry of a path that came last."""
        return self._first_entry("path = ? ORDER BY moment DESC, rowid DESC LIMIT 1", path)

    def values(self, kind: str, under: str) -> list[Mapping[str, Any]]:
        """Return the values of a kind whose paths begin so, in the order of their paths."""
        rows = self._rows(
            "SELECT path, value FROM entries WHERE path >= ? AND path < ? AND kind = ?"
            " ORDER BY path",
            *_under(under),
            kind,
        )
        return [self._value(path, kind, value) for path, value in rows]

    @functools.cached_property
    def answers(self) -> Mapping[str, int]:
        """How many calls have answered each question, as of the first time that this is read."""
        query = "SELECT asked, count(*) FROM entries WHERE kind = 'model' GROUP BY asked"
        return {str(asked): int(number) for asked, number in self._rows(query)}

    def number(self, path: str) -> int:
        """Return the number of the next entry of a path, from 1; no other gets the same."""
        if path not in self._numbers:
            query = "SELECT count(*) FROM entries WHERE path = ?"
            self._numbers[path] = self._rows(query, path)[0][0] if self.has(path) else 0
        self._numbers[path] += 1
        return self._numbers[path]

    def paid(self, under: str) -> Iterator[Attempt]:
        """Return what all entries say that something cost, by their paths.

        An answer says so only where no attempt does, as where it came from the cache.
        """
        rows = self._rows(
            "SELECT path, kind, value FROM entries WHERE path >= ? AND path < ?"
            " AND kind IN ('model', 'attempt') ORDER BY path, asked",
            *_under(under),
        )
        for path, kind, value in rows:
            if kind == "attempt":
                yield _parsed(self.path, path, kind, value)[1]
            elif not self.has(f"{path}/attempts"):
                yield Attempt(usage=_parsed(self.path, path, kind, value)[1].usage, state="settled")

    def all(self, *, without: Sequence[str] = ()) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield path, question and value of every entry, but those of some kinds."""
        for path, asked, kind, value in self._rows("SELECT path, asked, kind, value FROM entries"):
            if kind not in without:
                yield path, asked, self._value(path, kind, value)

    def last_moment(self) -> float:
        """Return the moment of the entry that came last; 0 where there is none."""
        if not self._paths:
            return 0.0
        asked = "SELECT max(CAST(moment AS REAL)) FROM entries"
        return float(self._reader.execute(asked).fetchone()[0] or 0)

    async def put(self, entry: JournalEntry, *, at_once: bool = True) -> None:
        """Write an entry; it is written when this returns, and also when it is cancelled.

        Args:
            at_once: Whether to wait until it is written. Else it is so before any entry that is put
                later, or `LAG` seconds later: for what can be made again of the entries before it.
        """
        if not at_once:
            self.put_soon(entry)
            return
        row, loop = self._row(entry), asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        if loop not in self._due:
            self._due.add(loop)
            loop.call_soon(self._commit, loop)
        self._waiting.append((row, loop, written))
        try:
            await asyncio.sleep(0)  # mostly it is committed now: a turn less than to be woken
            await written
        finally:
            written.cancel()  # where this is cancelled: nobody asks for a failure then

    def put_soon(self, entry: JournalEntry) -> None:
        """Have an entry written before any that is put later, or `LAG` seconds later."""
        loop = asyncio.get_running_loop()
        self._waiting.append((self._row(entry), loop, None))
        self._flush_soon(loop)

    def remove(self, paths: Iterable[str]) -> None:
        """Delete the entries of paths.

        Raises:
            StorageError: The file cannot be written.
        """
        gone = [*paths]
        self._commit_here()
        with self._committing:
            failure = _committed(self._writer, [(path,) for path in gone], self.path, DELETE)
            self._log.written += 1
        if failure is not None:
            raise failure
        self._paths.difference_update(gone)

    def _row(self, entry: JournalEntry) -> _Row:
        self._paths.add(entry.path)
        return (
            entry.path,
            entry.asked,
            entry.kind,
            encoded(entry.value, repr).decode(),
            entry.moment,
        )

    async def flush(self) -> None:
        """Wait until everything that was put is on disk."""
        self._commit_here()
        if not self._log.is_flushed:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._log.flush)

    def flush_now(self) -> None:
        """Flush everything that was put, in the thread of the caller."""
        self._commit_here()
        self._log.flush()

    def flushing(self) -> Future[None]:
        """Flush everything that was put, in a thread; the result is there when the disk has it."""
        self._commit_here()
        return self._thread.submit(self._log.flush)

    def flush_ahead(self) -> None:
        """Have the files flushed that stand beside it, while an event loop waits for others."""
        self._flush_soon(asyncio.get_running_loop(), AHEAD)

    def close(self) -> None:
        """Write what waits, flush it, and close the file."""
        self._is_closed = True
        self._thread.shutdown()
        while self._waiting:
            self._settle(*self._commit_waiting())
        try:
            if self._log.written or self._log.failure is not None:
                self._log.flush()
        finally:
            self._flush_beginnings()  # SQLite takes over what is left of the log
            with self._committing:
                self._log.close()
                self._log.before_taking_over = _nothing  # so both are freed at once
                self._writer.close()
                self._reader.close()

    def _commit(self, loop: asyncio.AbstractEventLoop) -> None:
        """Commit what waits: here, or in a thread, after which this is called again."""
        self._due.discard(loop)
        is_busy = self._in_thread is not None and not self._in_thread.is_closed()
        if not self._waiting or is_busy:
            return
        is_shared = self._writer is not self._reader
        if not is_shared and sum(len(row[3]) for row, _, _ in self._waiting) <= AT_ONCE:
            self._settle(*self._commit_waiting())
            self._flush_soon(loop)
            return

        def committed(done: asyncio.Future[_Committed]) -> None:
            self._in_thread = None
            self._settle(*done.result())
            self._flush_soon(loop)
            self._commit(loop)

        self._in_thread = loop
        loop.run_in_executor(self._thread, self._commit_waiting).add_done_callback(committed)

    def _commit_here(self) -> None:
        """Commit what waits, so that it is found; in a shared file it is not looked for yet."""
        if self._waiting and self._writer is self._reader:
            self._settle(*self._commit_waiting())

    def _flush_beginnings(self) -> None:
        """Have SQLite flush a log that begins anew, ahead of its entries.

        Else the pages of the old one behind them could be taken for newer ones.
        """
        with self._committing:
            self._writer.execute("PRAGMA synchronous = NORMAL")

    def _commit_waiting(self) -> _Committed:
        """Commit what waits; give who waited, and what stood in the way."""
        with self._committing:
            batch = self._waiting.copy()
            failure = self._log.failure
            if failure is None and batch:
                failure = _committed(self._writer, [row for row, _, _ in batch], self.path)
            if failure is None:
                self._log.written += 1
            elif not any(written for _, _, written in batch):
                self._log.failure = failure  # nobody else would be told
            del self._waiting[: len(batch)]
        return batch, failure

    def _settle(self, batch: Sequence[_Waiting], failure: StorageError | None) -> None:
        here = _loop_here()
        for _, loop, written in batch:
            if written is None:
                continue
            if loop is here:
                _settle(written, failure)
            else:
                with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits
                    loop.call_soon_threadsafe(_settle, written, failure)

    def _flush_soon(self, loop: asyncio.AbstractEventLoop, lag: float | None = None) -> None:
        """Have what was put written and flushed soon, unless that will happen anyway."""
        if self._flushes is not None and not self._flushes.is_closed():
            return

        def soon() -> None:
            self._flushes = None
            if self._is_closed:
                return
            self._commit_here()
            if not self._log.is_flushed and self._log.failure is None:
                loop.run_in_executor(self._thread, self._log.try_flush)

        self._flushes = loop
        loop.call_later(LAG if lag is None else lag, soon)

    def _first_entry(self, where: str, *values: str) -> JournalEntry | None:
        if values[0] not in self._paths:
            return None
        query = f"SELECT {COLUMNS} FROM entries WHERE {where}"  # noqa: S608
        rows = self._rows(query, *values)
        if not rows:
            return None
        path, asked, kind, text, moment = rows[0]
        value = self._value(path, kind, text)
        return JournalEntry(path=path, kind=kind, asked=asked, value=value, moment=moment)

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        self._commit_here()
        try:
            return self._reader.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise StorageError(f"{self.path}: the journal is damaged: {error}.") from None

    def _value(self, path: str, kind: str, text: object) -> Mapping[str, Any]:
        return _read(self.path, path, kind, text)


_Committed: TypeAlias = "tuple[Sequence[_Waiting], StorageError | None]"


def _under(begin: str) -> tuple[str, str]:
    """Return the bounds of all paths that begin so, by which the index finds them."""
    return begin, f"{begin}\U0010ffff"


def _nothing() -> None:
    """Do nothing."""


@dataclass(kw_only=True, eq=False)
class _Log:
    """The write-ahead log of a file: what is flushed of it, and taken over into the file.

    Attributes:
        path: The file whose log it is.
        flushed: How many of them are on disk; None: not even the files that stand beside it are,
            which say what the entries are about.
        failure: Why it could not be flushed, or written where nobody waited for that. What a disk
            did not take once may be lost without another error, so nothing is written any more.
    """

    path: Path
    written: int = 0
    flushed: int | None = None
    failure: StorageError | None = None
    before_taking_over: Callable[[], None] = _nothing
    _flushing: threading.Lock = field(default_factory=threading.Lock)
    _connection: sqlite3.Connection | None = None

    @property
    def is_flushed(self) -> bool:
        """Whether everything that was written is on disk."""
        return self.flushed == self.written and self.failure is None

    def flush(self) -> None:
        """Flush what was written."""
        with self._flushing:
            if self.failure is None and self.flushed != self.written:
                self._flush()
        if self.failure is not None:
            raise self.failure

    def try_flush(self) -> None:
        """Flush what was written; whoever writes next is told of a failure."""
        with contextlib.suppress(StorageError):
            self.flush()

    def close(self) -> None:
        """Let go of it."""
        with self._flushing:
            if self._connection is not None:
                self._connection.close()

    def _flush(self) -> None:
        upto = self.written
        try:
            log = self.path.with_name(f"{self.path.name}-wal")
            if self.flushed is None:
                self._flush_folder()  # the log, too
            elif log.exists():
                sync(log)
            if log.exists() and log.stat().st_size > LARGEST_LOG:
                self.before_taking_over()
                self._take_over()
        except OSError as error:  # also of a file beside ours, or of the folder above it
            self.failure = StorageError(error.errno, error.strerror, str(self.path))
        except sqlite3.Error as error:
            self.failure = StorageError(f"{self.path}: cannot be written: {error}.")
        else:
            self.flushed = upto

    def _flush_folder(self) -> None:
        folder = self.path.parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and not file.name.endswith("-shm"):  # made anew where it is missing
                sync(file)
        sync(folder)
        sync(folder.parent)

    def _take_over(self) -> None:
        """Take the entries of the log over into the file: then it begins anew."""
        if self._connection is None:
            self._connection = _connected(self.path)
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _known(connection: sqlite3.Connection, *, reading: bool) -> set[str]:
    """Return the paths of the entries of a file; make their table, where there is none."""
    if not reading:
        connection.execute(TABLE)
    connection.execute(f"SELECT {COLUMNS} FROM entries LIMIT 0")  # noqa: S608
    return {row[0] for row in connection.execute("SELECT path FROM entries")}


def _began(path: Path) -> bool:
    """Make a file without entries, where there is none; tell whether there was none.

    One that SQLite makes itself it flushes six times. This one is flushed with its first entries.
    So without power a part of it may be left, and no entry: then it is made anew.
    """
    whole = _empty()
    try:
        if path.exists() and (path.stat().st_size > len(whole) or not _is_part(path, whole)):
            return False
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}.") from None
    write_atomically(path, whole, flushed=False)
    return True


def _is_part(path: Path, whole: bytes) -> bool:
    """Tell whether a file holds less than all of what was written there: zeros stand for others."""
    left = path.read_bytes().ljust(len(whole), b"\0")
    bytes_of_both = zip(left, whole, strict=True)
    return left != whole and all(here in {0, there} for here, there in bytes_of_both)


@functools.cache
def _empty() -> bytes:
    """Return the content of a file without entries, as SQLite has it, in write-ahead mode."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(TABLE)
        content = bytearray(connection.serialize())
    content[18:20] = b"\2\2"  # https://sqlite.org/fileformat2.html#file_format_version_numbers
    return bytes(content)


def _loop_here() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _connected(path: Path) -> sqlite3.Connection:
    """Connect in WAL mode. SQLite stays in another one, without an error, where it cannot."""
    try:
        connection = sqlite3.connect(path, **HOW)
    except sqlite3.OperationalError as error:
        raise StorageError(f"{path}: cannot be written: {error}.") from None
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")  # flushed by `_Log`
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # which holds up nobody there
        if mode != "wal":
            raise sqlite3.OperationalError("the disk fails, or takes no write-ahead log")
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise StorageError(f"{path}: cannot be written: {error}.") from None
        raise
    return connection


def _reading(path: Path) -> sqlite3.Connection:
    """Connect to a file, which is not written.

    A killed process leaves a log. SQLite reads it only by writing beside it, so then this reads a
    copy in memory.
    """
    log = path.with_name(f"{path.name}-wal")
    if not log.exists():
        return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, **HOW)
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, log):
            Path(folder, file.name).write_bytes(file.read_bytes())
        connection = sqlite3.connect(":memory:", **HOW)
        with contextlib.closing(sqlite3.connect(Path(folder, path.name), **HOW)) as copied:
            copied.backup(connection)
    return connection


def _committed(
    connection: sqlite3.Connection,
    rows: list[tuple[Any, ...]],
    path: Path,
    statement: str = INSERT,
) -> StorageError | None:
    """Commit rows together; give what stood in the way."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, rows)
        failpoint("journal.commit.before")
        connection.execute("COMMIT")
        failpoint("journal.commit.after")
    except Exception as error:  # noqa: BLE001 - the thread's boundary: whoever waits is told
        with contextlib.suppress(sqlite3.Error):
            connection.rollback()
        return StorageError(f"{path}: cannot be written: {error}.")
    return None


def _settle(written: asyncio.Future[None], failure: StorageError | None) -> None:
    if written.done():  # whoever put it was cancelled
        return
    if failure is None:
        written.set_result(None)
    else:
        written.set_exception(failure)


def _read(file: Path, path: str, kind: str, text: object) -> Mapping[str, Any]:
    return _parsed(file, path, kind, text)[0]


def _parsed(file: Path, path: str, kind: str, text: object) -> tuple[Mapping[str, Any], Any]:
    """Read the value of an entry that anybody may have changed since, and what it stands for."""
    try:
        value: Any = loads(text) if isinstance(text, str) else None
        return value, from_value(_forms().get(kind, Mapping[str, Any]), value)
    except Misfit as wrong:
        raise StorageError(
            f"{file}: the entry {quoted(path)} ({kind}) is damaged: {wrong}."
        ) from None
    except ValueError as error:
        raise StorageError(f"{file}: the entry {quoted(path)} is no JSON: {error}.") from None


@functools.cache
def _forms() -> Mapping[str, type[Any]]:
    """Return what entries hold, by their kind; others are checked by those who read them."""
    from ..agents.outcomes import JournaledOutcome, Run
    from ..gateway import ChatAnswer

    return {
        "agent": JournaledOutcome,
        "attempt": Attempt,
        "model": ChatAnswer,
        "run": Run,
    }


def unite(paths: Iterable[Path], into: Path) -> None:
    """Make a file of the entries of several; of two under one path and question, the first counts.

    Raises:
        InputError: One is not there, or none of ours.
        StorageError: The file cannot be made.
    """
    connection = _connected(into)
    with contextlib.closing(connection):
        connection.execute(TABLE)
        for path in paths:
            rows = _columns(path, "ORDER BY rowid", ())
            connection.execute("BEGIN")
            try:
                connection.executemany(INSERT.replace("REPLACE", "IGNORE"), rows)
                failpoint("journal.commit.before")
                connection.execute("COMMIT")
                failpoint("journal.commit.after")
            except sqlite3.OperationalError as error:
                raise StorageError(f"{into}: cannot be written: {error}.") from None


def read_only(path: Path, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read path and value of all entries of a kind, in the order in which they came.

    Nothing is held or changed.
    """
    for name, value in _columns(
        path, "WHERE kind = ? ORDER BY moment, rowid", (kind,), "path, value"
    ):
        yield name, _read(path, name, kind, value)


def _columns(
    path: Path, which: str, values: tuple[str, ...], columns: str = COLUMNS
) -> Iterator[tuple[Any, ...]]:
    """Read entries of a file that nobody holds, or that somebody is at work on."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    is_open = path.with_name(f"{path.name}-wal").exists() and os.access(path.parent, os.W_OK)
    how = "mode=ro" if is_open else "mode=ro&immutable=1"  # else reading would leave files there
    address = f"file:{quote(str(path.resolve()))}?{how}"
    asked = f"SELECT {columns} FROM entries {which}"  # noqa: S608
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            yield from connection.execute(asked, values)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path}: this is not a journal: {error}.") from None
