"""The bus of an open roster: its messages, its active agents, and their mailboxes.

Its state is a fold over a sequence of events: an agent took its mail, a turn ended and its acts
were sent, the run ended. So the sequence determines the team at every moment, and a run that
is resumed or replayed follows it, whatever the timing.

A turn is atomic. Its acts are sent when it ends, all at once; a message to an
agent at work waits in its mailbox. Mail of a turn without a result is put back into the mailbox.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..agents.outcomes import Kind, Posted, Why
from ..agents.posted import Ended, Event, Mail, TurnDone, TurnStart

if TYPE_CHECKING:
    from ...schema.team.team import Roster

__all__ = ["Bus", "Ended", "Event", "Mail", "Posted", "TurnDone", "TurnStart", "Why"]

MAIL = frozenset[Kind]({"task", "message", "start", "answer", "failed", "refused"})
"""The acts that put mail into a mailbox."""
COUNTED = frozenset[Kind]({"message", "start", "answer"})
"""The acts that the limit on messages counts."""


@dataclass(kw_only=True, eq=False)
class Bus:
    """The state of an open roster after a sequence of events.

    Attributes:
        active: The active agents, each with the agent that started it; empty for the team itself.
        turns: How many turns each has begun.
        ended: How the run ended, if it has.
    """

    candidates: tuple[str, ...]
    roster: Roster
    posted: list[Posted] = field(default_factory=list[Posted])
    active: dict[str, str] = field(default_factory=dict[str, str])
    leaving: set[str] = field(default_factory=set[str])
    at_work: dict[str, TurnStart] = field(default_factory=dict[str, TurnStart])
    turns: Counter[str] = field(default_factory=Counter[str])
    sent: int = 0
    ended: Ended | None = None
    _boxes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    _last: Posted | None = None

    def __post_init__(self) -> None:
        self._post(Posted(number=1, sender="", to=self.roster.lead, kind="task"))
        self.active[self.roster.lead] = ""

    @property
    def unread(self) -> int:
        """The number of unread messages."""
        waiting = (self.posted[number - 1] for box in self._boxes.values() for number in box)
        return sum(message.kind in COUNTED for message in waiting)

    @property
    def due(self) -> tuple[str, ...]:
        """Return the agents that have mail and can take it; the longest wait comes first."""
        able = (name for name in self.active if name not in self.at_work and self._boxes.get(name))
        return tuple(sorted(able, key=lambda text: self._boxes[text][0]))

    @property
    def ending(self) -> Ended | None:
        """Return how the events so far end the run; None if it continues."""
        if self.ended is not None:
            return self.ended
        if self._last is not None:
            why: Why = _WHY[self._last.kind]
            text = "" if why == "messages" else self._last.text
            return Ended(why=why, by=self._last.sender, text=text)
        due = self.due
        worn = next((name for name in due if self.turns[name] >= self.roster.turns), None)
        if worn is not None:
            return Ended(why="turns", by=worn)
        return None if due or self.at_work else Ended(why="silence")

    def take(self, agent: str) -> TurnStart:
        """Return the mail that an agent takes at the start of a turn: all that waits for it."""
        box = tuple(self._boxes.get(agent, ()))
        return TurnStart(agent=agent, turn=self.turns[agent] + 1, messages=box)

    def mail(self, start: TurnStart, *, hands_in: bool = False) -> Mail:
        """Return the mail of an agent that has just begun a turn."""
        roster, active = self.roster, tuple(self.active)
        return Mail(
            turn=start.turn,
            messages=tuple(self.posted[number - 1] for number in start.messages),
            active=active,
            candidates=tuple(
                candidate for candidate in self.candidates if candidate not in self.active
            ),
            messages_left=max(0, roster.messages - self.sent),
            turns_left=max(0, roster.turns - start.turn),
            places_left=max(0, roster.alive - len(active)),
            hands_in=hands_in,
        )

    def apply(self, event: Event) -> None:
        """Apply an event."""
        match event:
            case TurnStart():
                self._boxes.pop(event.agent, None)
                self.at_work[event.agent] = event
                self.turns[event.agent] = event.turn
            case TurnDone():
                self._end_turn(event)
            case Ended():
                self.ended = event

    def _end_turn(self, end: TurnDone) -> None:
        start = self.at_work.pop(end.agent)
        if end.status != "done" and start.messages:
            self._boxes[end.agent] = [*start.messages, *self._boxes.get(end.agent, ())]
        for posted in end.posted:
            self._post(posted)
        if end.status == "failed" or end.agent in self.leaving:
            self._leave(end.agent)

    def _post(self, posted: Posted) -> None:
        self.posted.append(posted)
        self.sent += posted.kind in COUNTED
        if posted.kind in MAIL:
            self._boxes.setdefault(posted.to, []).append(posted.number)
        match posted.kind:
            case "start":
                self.active.setdefault(posted.to, posted.sender)
                self.leaving.discard(posted.to)
            case "stop" if posted.to in self.at_work or posted.to == posted.sender:
                self.leaving.add(posted.to)
            case "stop":
                self._leave(posted.to)
            case "finalize" | "terminate" | "unsent":
                self._last = posted
            case _:
                pass

    def _leave(self, agent: str) -> None:
        self.active.pop(agent, None)
        self.leaving.discard(agent)


_WHY: dict[Kind, Why] = {
    "finalize": "finalized",
    "terminate": "terminated",
    "unsent": "messages",
}
