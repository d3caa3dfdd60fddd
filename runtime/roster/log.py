"""The sequence of events of an open roster, journaled before they take effect.

Its entries are numbered. So the journal holds all events up to some moment, and
none that follows a missing one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...schema.values.codec import from_value, to_value
from ..agents.outcomes import AgentOutcome
from ..agents.posted import Event
from ..record.journal import Journal, digest

KEY = digest("bus")


class RosterLog:
    """The sequence of events of one run's roster.

    Args:
        journal: Where it is stored; None: nowhere.
    """

    def __init__(self, journal: Journal | None, path: str) -> None:
        self._journal = journal
        self._path = path
        self._count = 0

    @property
    def is_replaying(self) -> bool:
        """Whether only recorded events may happen."""
        return self._journal is not None and self._journal.replaying

    def past(self) -> Iterator[tuple[Event, AgentOutcome | None]]:
        """Yield the events of earlier processes, in order.

        A turn without a result comes with the outcome of its agent.
        """
        while self._journal is not None:
            value = self._journal.get(self._place(self._count + 1), KEY)
            if value is None:
                return
            self._count += 1
            ended = value.get("outcome")
            yield from_value(Event, value), from_value(AgentOutcome, ended) if ended else None

    async def note(self, event: Event, outcome: AgentOutcome | None = None) -> None:
        """Record the next event; it is on disk when this returns.

        Args:
            outcome: The outcome of the agent, if its turn had no result.

        Raises:
            NotRecorded: This is a replay, and the recorded run did not get there.
            StorageError: It cannot be written.
        """
        self._count += 1
        if self._journal is None:
            return
        place = self._place(self._count)
        self._journal.must_be_live(place)
        fields = {"outcome": to_value(outcome)} if outcome else {}
        await self._journal.put(place, "bus", KEY, {**to_value(event), **fields})

    def differs(self) -> None:
        """Record that a turn of a replay differs from the last recorded one."""
        if self._journal is not None:
            self._journal.note(self._place(self._count), "bus", "result")

    def _place(self, number: int) -> str:
        return f"{self._path}bus/{number:06d}"
