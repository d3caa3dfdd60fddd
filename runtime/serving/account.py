"""The account of requests: the records of idempotency keys and conversations, and each day's cost.

It is a journal in the folder of runs, held by one server at a time. It survives the server, however
that ends: the cost of a run whose server was killed is read from the run's own journal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from ...schema.values.errors import InputError
from ..record.journal import Journal, digest
from ..runs.record import RunRecord, read_result
from ..values.budget import Budget, Caps
from ..values.usage import Usage

FOLDER = ".requests"
DAY = 24 * 60 * 60
SESSION, KEY, CONVERSATION = "session", "key", "conversation"
RETENTION = timedelta(days=30)
"""How long entries are kept."""


def today() -> str:
    """Return the date, UTC."""
    return datetime.now(UTC).date().isoformat()


def seconds_left() -> int:
    """Return the seconds until the day ends, UTC."""
    now = datetime.now(UTC)
    return DAY - (now.hour * 60 + now.minute) * 60 - now.second


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkSession:
    """A stretch of work on a record, which counts for the day on which it began."""

    place: str
    run: str
    before: Usage
    day: Budget

    def value(self, after: Usage | None) -> dict[str, Any]:
        """Return its entry; without `after` it is under way, or was killed."""
        ended = {} if after is None else {"after": after.value()}
        return {"run": self.run, "before": self.before.value(), **ended}


@dataclass(kw_only=True, eq=False)
class Account:
    """The account of requests. A context manager.

    Attributes:
        per_day: The largest cost of a day, UTC.
    """

    runs: Path
    per_day: Caps = field(default_factory=Caps)
    clock: Callable[[], str] = today
    _journal: Journal = field(init=False)
    _date: str = ""
    _day: Budget = field(init=False)

    def __enter__(self) -> Account:
        """Open the account.

        Raises:
            InputError: Another server works with the same folder of runs.
            StorageError: The account cannot be written.
        """
        folder = self.runs / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._journal = Journal.open(folder)
        except InputError:
            raise InputError(
                f"{self.runs}: another server works with this folder. Name another one with --runs."
            ) from None
        # Now, while nobody works on a record: the journals of those who do cannot be read.
        self._begin_day(self.clock())
        self._day.deposit(self._spent_on(self._date))
        self._prune(str(date.fromisoformat(self._date) - RETENTION))
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def record_of(self, key: str) -> tuple[str, str] | None:
        """Return the name of the record of a key and the digest of its request; None: neither."""
        entry = self._journal.entry(f"{KEY}/{key}", "")
        return None if entry is None else (entry.value["run"], entry.value["asked"])

    def conversation(self, name: str) -> Path | None:
        """Return the folder of the latest answer of a conversation; None if it has none."""
        entry = self._journal.entry(f"{CONVERSATION}/{name}", "")
        folder = None if entry is None else self.runs / entry.value["run"]
        return folder if folder is not None and folder.is_dir() else None

    async def answered(self, conversation: str, run: str) -> None:
        """Record which run has the latest answer of a conversation."""
        value = {"run": run, "day": self.clock()}
        await self._journal.put(f"{CONVERSATION}/{conversation}", CONVERSATION, "", value)

    async def begin(self, record: RunRecord, key: str, request_digest: str) -> WorkSession:
        """Record that work on a run begins, before anything is paid.

        Args:
            key: The idempotency key; empty where the request has none.
        """
        if (day := self.clock()) != self._date:
            self._begin_day(day)
        run = record.folder.path.name
        place = f"{day}/{run}/{time.time_ns()}"
        session = WorkSession(place=place, run=run, before=record.spent(), day=self._day)
        if key:
            fields = {"run": run, "asked": request_digest, "day": day}
            await self._journal.put(f"{KEY}/{key}", KEY, "", fields, at_once=False)
        await self._journal.put(place, SESSION, "", session.value(None))
        await self._journal.flush()
        return session

    async def end(self, session: WorkSession, record: RunRecord) -> None:
        """Record the cost of a session; never waits, so it cannot be cancelled."""
        value = session.value(record.spent())
        await self._journal.put(session.place, SESSION, "", value, at_once=False)

    def _prune(self, oldest: str) -> None:
        """Delete entries of days before one; a key stays as long as its record has no answer."""

        def is_old(path: str, value: Mapping[str, Any]) -> bool:
            if path[0].isdigit():
                return path < oldest
            return value["day"] < oldest and _is_complete(self.runs / value["run"])

        self._journal.forget(is_old)

    def _begin_day(self, day: str) -> None:
        """Begin a day; requests under way count for the day on which they began."""
        self._date, self._day = day, Budget(self.per_day, name="this server, today,")

    def _spent_on(self, day: str) -> Usage:
        sessions = self._journal.values(SESSION, under=f"{day}/")
        return sum((self._cost(at, sessions) for at in range(len(sessions))), Usage())

    def _cost(self, at: int, sessions: Sequence[Mapping[str, Any]]) -> Usage:
        """Return the cost of a session; of a killed one, until the record's next session."""
        session = sessions[at]
        later = (entry["before"] for entry in sessions[at + 1 :] if entry["run"] == session["run"])
        after = session.get("after") or next(later, None)
        total = self._total(session["run"]) if after is None else Usage(**after)
        return total - Usage(**session["before"])

    def _total(self, run: str) -> Usage:
        """Return the cost of a record; zero if it was deleted."""
        try:
            with Journal.open(self.runs / run, replaying=True) as journal:
                return journal.spent()
        except (InputError, OSError):
            return Usage()


def _is_complete(folder: Path) -> bool:
    """Return whether a record has an answer, or was deleted."""
    if not folder.is_dir():
        return True
    result = read_result(folder)
    return result is not None and result["status"] == "done"


def key_of(caller: str, key: str) -> str:
    """Return the digest of an idempotency key; each caller has its own keys."""
    return digest(caller, key) if key else ""
