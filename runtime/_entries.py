"""Entries in an sqlite file, written in the background, several to one flush of the disk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import sqlite3
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote

from ..schema.errors import InputError, StorageError
from ..schema.failpoints import failpoint
from ..schema.json_text import loads
from ..schema.kept import misfit
from ..schema.problems import quoted
from ..schema.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Entries", "Entry", "read_only", "unite"]

TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    path TEXT NOT NULL, asked TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
    moment REAL NOT NULL, PRIMARY KEY (path, asked)
)
"""
COLUMNS = "path, asked, kind, value, moment"
INSERT = "INSERT OR REPLACE INTO entries (path, asked, kind, value, moment) VALUES (?, ?, ?, ?, ?)"
HOW: Mapping[str, Any] = {"timeout": 60, "isolation_level": None, "check_same_thread": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Something recorded: see `Journal`. `moment` is in seconds since the run began."""

    path: str
    kind: str
    asked: str
    value: Mapping[str, Any]
    moment: float


_Waiting = tuple[tuple[Any, ...], asyncio.AbstractEventLoop, "asyncio.Future[None]"]


@dataclass(kw_only=True, eq=False)
class Entries:
    """A file of entries: WAL, and flushed at every commit.

    Whoever puts waits for the disk; the event loop does not. What several put meanwhile is
    committed together, so that the disk is not asked for one flush per call.
    """

    path: Path
    _reader: sqlite3.Connection
    _paths: set[str]
    _queue: queue.SimpleQueue[_Waiting | None] = field(default_factory=queue.SimpleQueue)
    _writer: threading.Thread | None = None

    @classmethod
    def open(cls, path: Path, *, must_exist: bool = False) -> Self:
        """Open a file of entries, or make it.

        Raises:
            InputError: It must exist and does not.
            sqlite3.DatabaseError: It is something else.
            StorageError: It cannot be made.
        """
        if must_exist and not path.is_file():
            raise InputError(f"{path}: there is no such file.")
        connection = _connected(path)
        try:
            connection.execute(TABLE)
            connection.execute(f"SELECT {COLUMNS} FROM entries LIMIT 0")  # noqa: S608
            known = {row[0] for row in connection.execute("SELECT path FROM entries")}
        except sqlite3.DatabaseError as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError):
                raise StorageError(f"{path}: cannot be written: {error}.") from None
            raise
        return cls(path=path, _reader=connection, _paths=known)

    def has(self, path: str) -> bool:
        """Tell whether there is an entry of a path, whatever it answers."""
        return path in self._paths

    def get(self, path: str, asked: str) -> Entry | None:
        """Give the entry of a path that answers a question."""
        return self._one("path = ? AND asked = ?", path, asked)

    def find(self, path: str, asked: str) -> Entry | None:
        """Give an entry that another process may have written meanwhile."""
        self._paths.add(path)
        return self.get(path, asked)

    def latest(self, path: str) -> Entry | None:
        """Give the entry of a path that came last."""
        return self._one("path = ? ORDER BY moment DESC, rowid DESC LIMIT 1", path)

    def values(self, kind: str, under: str) -> list[Mapping[str, Any]]:
        """Give the values of a kind whose paths begin so, in the order of their paths.

        Raises:
            StorageError: One is damaged.
        """
        rows = self._rows(
            "SELECT path, value FROM entries WHERE kind = ? AND substr(path, 1, ?) = ?"
            " ORDER BY path",
            kind,
            len(under),
            under,
        )
        return [self._value(path, kind, value) for path, value in rows]

    def all(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Give path, question and value of every entry.

        Raises:
            StorageError: One is damaged.
        """
        rows = self._rows("SELECT path, asked, kind, value FROM entries")
        for path, asked, kind, value in rows:
            yield path, asked, self._value(path, kind, value)

    def last_moment(self) -> float:
        """Give the moment of the entry that came last; 0 where there is none."""
        return float(
            self._reader.execute("SELECT max(CAST(moment AS REAL)) FROM entries").fetchone()[0] or 0
        )

    async def put(self, entry: Entry) -> None:
        """Write an entry; it is on disk when this returns, and also when it is cancelled.

        Raises:
            StorageError: It cannot be written.
        """
        if self._writer is None:
            self._writer = threading.Thread(
                target=self._write_all, args=(_connected(self.path),), name="journal", daemon=True
            )
            self._writer.start()
        text = json.dumps(entry.value, default=repr)  # ASCII: sqlite takes no lone surrogates
        row = (entry.path, entry.asked, entry.kind, text, entry.moment)
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._paths.add(entry.path)
        self._queue.put((row, loop, written))
        await written

    def close(self) -> None:
        """Write what waits, and close the file."""
        if self._writer is not None:
            self._queue.put(None)
            self._writer.join()
            self._writer = None
        self._reader.close()

    def _one(self, where: str, *values: str) -> Entry | None:
        if values[0] not in self._paths:
            return None
        query = f"SELECT {COLUMNS} FROM entries WHERE {where}"  # noqa: S608
        rows = self._rows(query, *values)
        if not rows:
            return None
        path, asked, kind, text, moment = rows[0]
        value = self._value(path, kind, text)
        return Entry(path=path, kind=kind, asked=asked, value=value, moment=moment)

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        try:
            return self._reader.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise StorageError(f"{self.path}: the journal is damaged: {error}.") from None

    def _value(self, path: str, kind: str, text: object) -> Mapping[str, Any]:
        return _read(self.path, path, kind, text)

    def _write_all(self, connection: sqlite3.Connection) -> None:
        """The writer's thread: commit what has come together, until told to end."""
        try:
            while (batch := self._next_batch()) is not None:
                failure = _committed(connection, [row for row, _, _ in batch], self.path)
                for _, loop, written in batch:
                    with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits
                        loop.call_soon_threadsafe(_settle, written, failure)
        finally:
            connection.close()

    def _next_batch(self) -> list[_Waiting] | None:
        """Wait for an entry, and take what else has come; None when there will be no more."""
        batch = [self._queue.get()]
        while batch[-1] is not None and not self._queue.empty():
            batch.append(self._queue.get())
        if batch[-1] is None:
            self._queue.put(None)
            batch.pop()
        return [one for one in batch if one is not None] or None


def _connected(path: Path) -> sqlite3.Connection:
    """Connect in WAL mode. SQLite stays in another one, without an error, where it cannot."""
    try:
        connection = sqlite3.connect(path, **HOW)
    except sqlite3.OperationalError as error:
        raise StorageError(f"{path}: cannot be written: {error}.") from None
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        if mode != "wal":
            raise sqlite3.OperationalError("the disk fails, or takes no write-ahead log")
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise StorageError(f"{path}: cannot be written: {error}.") from None
        raise
    return connection


def _committed(
    connection: sqlite3.Connection, rows: list[tuple[Any, ...]], path: Path
) -> StorageError | None:
    """Commit rows together; give what stood in the way."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, rows)
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
    """Read the value of an entry that anybody may have changed since.

    Raises:
        StorageError: It is not what an entry of its kind holds.
    """
    try:
        value = loads(text) if isinstance(text, str) else None
    except ValueError as error:
        raise StorageError(f"{file}: the entry {quoted(path)} is no JSON: {error}.") from None
    wrong = misfit(kind, value) if is_mapping(value) else "it is no object"
    if wrong:
        raise StorageError(f"{file}: the entry {quoted(path)} ({kind}) is damaged: {wrong}.")
    return cast("Mapping[str, Any]", value)


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

    Raises:
        InputError: There is no such file, or it is none of ours.
        StorageError: An entry is damaged.
    """
    for name, value in _columns(
        path, "WHERE kind = ? ORDER BY moment, rowid", (kind,), "path, value"
    ):
        yield name, _read(path, name, kind, value)


def _columns(
    path: Path, which: str, values: tuple[str, ...], columns: str = COLUMNS
) -> Iterator[tuple[Any, ...]]:
    """Read entries of a file that nobody holds, or that somebody is at work on.

    Raises:
        InputError: There is no such file, or it is none of ours.
    """
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
