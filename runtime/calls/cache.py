"""The cache: answers that other runs paid for.

Its key is everything that affects an answer, and how often this process has asked the same. So
three voters that ask the same get three samples, and the next run gets the same three.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ...schema.values.codec import Misfit, from_value
from ...schema.values.errors import InputError, StorageError
from ...schema.values.json_text import loads
from ..gateway import ChatAnswer
from ..values.encoded import encoded

FILE = "answers.sqlite"
TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    question TEXT NOT NULL, number INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (question, number)
)
"""
FIND = "SELECT value FROM answers WHERE question = ? AND number = ?"
KEEP = "INSERT OR REPLACE INTO answers (question, number, value) VALUES (?, ?, ?)"
HOW: Mapping[str, Any] = {"timeout": 60, "isolation_level": None, "check_same_thread": False}


@dataclass(kw_only=True, eq=False)
class Cache:
    """Answers in a folder, which several processes may share. A context manager.

    Writing may have to wait for other processes, so it happens in a thread. Reading has a separate
    connection, and does not wait.
    """

    path: Path
    _reader: sqlite3.Connection
    _writer: sqlite3.Connection
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "cache"))
    _counts: Counter[str] = field(default_factory=Counter[str])
    _ahead: Counter[str] = field(default_factory=Counter[str])
    _free: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the cache in a folder, or create it.

        Raises:
            InputError: The folder cannot be created, or its file is no cache.
            StorageError: The file cannot be created.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: the cache cannot be created: {error.strerror}.") from None
        path = folder / FILE
        return cls(path=path, _reader=_connected(path), _writer=_connected(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._writer.close()
        self._reader.close()

    def begin(self, question: str, recorded: int) -> None:
        """Record how many samples a run had before it was resumed; new calls get later ones.

        Only the first call for a question counts.
        """
        if question not in self._counts:
            self._counts[question] = self._ahead[question] = recorded

    def skip(self, question: str) -> None:
        """Record that a question was answered from elsewhere: its next sample is another one."""
        if self._ahead[question]:
            self._ahead[question] -= 1
        else:
            self._counts[question] += 1

    def _next(self, question: str) -> int:
        """Return the number of the next sample, from 1: one that was released, else a new one."""
        if free := self._free.get(question):
            return heapq.heappop(free)
        self._counts[question] += 1
        return self._counts[question]

    async def once(
        self, question: str, work: Callable[[], Awaitable[tuple[Mapping[str, Any], bool]]]
    ) -> tuple[Mapping[str, Any], bool]:
        """Return the next sample for a question; if missing, do the work and keep its answer.

        Args:
            question: The digest of everything that affects the answer.
            work: Asks; returns the answer, and whether it is valid for others, too. Its exceptions
                are raised, and never kept.

        Returns:
            The answer, and whether it came from the cache.

        Raises:
            StorageError: The answer cannot be kept.
        """
        number = self._next(question)
        if (value := self._stored(question, number)) is not None:
            return value, True
        try:
            value, lasts = await work()
        except BaseException:  # this sample was not returned, so the next call gets it
            heapq.heappush(self._free.setdefault(question, []), number)
            raise
        if lasts:
            row = question, number, encoded(value, repr).decode()
            await asyncio.get_running_loop().run_in_executor(self._thread, self._keep, row)
        return value, False

    def _stored(self, question: str, number: int) -> Mapping[str, Any] | None:
        """Return an answer that this or another process kept."""
        try:
            row = self._reader.execute(FIND, (question, number)).fetchone()
            if row is None:
                return None
            value: Mapping[str, Any] = loads(row[0])
            from_value(ChatAnswer, value)
        except (sqlite3.DatabaseError, TypeError, ValueError, Misfit) as error:
            raise StorageError(f"{self.path}: the cache is damaged: {error}.") from None
        return value

    def _keep(self, row: tuple[str, int, str]) -> None:
        try:
            self._writer.execute(KEEP, row)
        except sqlite3.Error as error:
            raise StorageError(f"{self.path}: cannot be written: {error}.") from None


def _connected(path: Path) -> sqlite3.Connection:
    """Connect to a file of answers; create it if necessary.

    It is in WAL mode. If that is unavailable, SQLite silently keeps another mode.
    """
    with contextlib.ExitStack() as failed:
        try:
            connection = failed.enter_context(contextlib.closing(sqlite3.connect(path, **HOW)))
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(TABLE)
        except sqlite3.OperationalError as error:
            raise StorageError(f"{path}: cannot be written: {error}.") from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path}: not a cache: {error}.") from None
        if mode != "wal":
            raise StorageError(f"{path}: the disk is failing or does not support write-ahead logs.")
        failed.pop_all()
    return connection
