"""The cache: answers that other runs paid for.

It is keyed by everything that shapes an answer, and by how often this process has asked the same:
three voters who ask alike get three samples, and the next run the same three.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ...schema.values.errors import InputError
from ..record._entries import Entries, JournalEntry

FILE = "answers.sqlite"


@dataclass(kw_only=True, eq=False)
class Cache:
    """Answers in a folder, which several processes may share. A context manager."""

    _entries: Entries
    _asked: Counter[str] = field(default_factory=Counter[str])
    _ahead: Counter[str] = field(default_factory=Counter[str])
    _free: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the cache of a folder, or make it.

        Raises:
            InputError: The folder cannot be made, or its file is no cache.
            StorageError: The file cannot be made.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls(_entries=Entries.open(folder / FILE, shared=True))
        except OSError as error:
            raise InputError(f"{folder}: the cache cannot be created: {error.strerror}.") from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"{folder / FILE}: this is not a cache: {error}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._entries.close()

    def begin(self, question: str, recorded: int) -> None:
        """Take note of how many samples a run had before it was resumed: who is live gets others.

        Only the first time counts that a question is asked.
        """
        if question not in self._asked:
            self._asked[question] = self._ahead[question] = recorded

    def skip(self, question: str) -> None:
        """Take note that a question was answered otherwise: its next sample is another one."""
        if self._ahead[question]:
            self._ahead[question] -= 1
        else:
            self._asked[question] += 1

    def _next(self, question: str) -> int:
        """Return the number of the next sample, from 1: one that nobody got, else a new one."""
        if free := self._free.get(question):
            return heapq.heappop(free)
        self._asked[question] += 1
        return self._asked[question]

    async def once(
        self, question: str, work: Callable[[], Awaitable[tuple[Mapping[str, Any], bool]]]
    ) -> tuple[Mapping[str, Any], bool]:
        """Return the next sample for a question; where there is none, do the work and keep it.

        Args:
            question: The digest of everything that shapes the answer.
            work: Asks; gives the answer, and whether it answers this question for others too. What
                it raises is raised, and never kept.

        Returns:
            The answer, and whether it came from the cache.

        Raises:
            StorageError: The answer cannot be kept.
        """
        number = self._next(question)
        path = f"{question}#{number}"
        entry = self._entries.find(path, question)
        if entry is not None:
            return entry.value, True
        try:
            value, lasts = await work()
        except BaseException:  # nobody got this sample, so the next who asks does
            heapq.heappush(self._free.setdefault(question, []), number)
            raise
        if not lasts:
            return value, False
        await self._entries.put(
            JournalEntry(path=path, kind="model", asked=question, value=value, moment=0.0)
        )
        return value, False
