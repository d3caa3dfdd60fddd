"""What stands on the bus of an open roster, and what happens to it, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...schema.values.codec import kept

Kind = Literal[
    "task",
    "message",
    "answer",
    "start",
    "stop",
    "finalize",
    "terminate",
    "failed",
    "refused",
    "unsent",
]
"""What is posted: the task to the lead; what agents do; that one failed, to those who wrote to it;
that something was refused, to who wanted it; a message beyond the limit, to nobody."""

Why = Literal[
    "finalized", "terminated", "silence", "messages", "turns", "seconds", "cost", "failed"
]
"""Why a run ended."""


@kept()
class Posted:
    """Something on the bus.

    Attributes:
        number: Its place on the bus, from 1.
        sender: Who posted it; of a failure, who failed; empty for the team itself.
        to: Whom it is for, or about; empty for all.
        turn: The turn of its sender in which it was posted; 0 for the team itself.
    """

    number: int
    sender: str
    to: str
    kind: Kind
    text: str = ""
    turn: int = 0


@kept(tag=("event", "taken"))
class TurnStart:
    """An agent took its mail, and began a turn.

    Attributes:
        turn: The number of the turn, from 1.
        messages: The numbers of what it took, in order.
    """

    agent: str
    turn: int
    messages: tuple[int, ...]


@kept(tag=("event", "turn_done"))
class TurnDone:
    """A turn ended.

    Attributes:
        status: Whether it was done, failed, or was cut off by the end of the run.
        posted: What went out, and what is said of what was refused.
    """

    agent: str
    turn: int
    status: Literal["done", "failed", "cancelled"] = "done"
    posted: tuple[Posted, ...] = ()


@kept(tag=("event", "ended"))
class Ended:
    """The run ended.

    Attributes:
        by: The agent whose doing it was, where it was one's.
        text: The answer, or the reason that was given.
    """

    why: Why
    by: str | None = None
    text: str = ""


Event = TurnStart | TurnDone | Ended


@dataclass(frozen=True, kw_only=True, slots=True)
class Mail:
    """What an agent reads as its turn begins, and knows of its team then.

    Attributes:
        turn: The number of its turn, from 1.
        messages: What it took, in the order in which it was posted.
        active: Who is active, itself included, in the order in which they joined.
        candidates: Whom it may start: those who are not active.
        messages_left: How many more messages the team may send.
        turns_left: How many more turns it has, after this one.
        places_left: How many more agents may be active.
        hands_in: Whether the run is over, and it is to hand in what there is: without tools.
    """

    turn: int
    messages: tuple[Posted, ...]
    active: tuple[str, ...]
    candidates: tuple[str, ...]
    messages_left: int
    turns_left: int
    places_left: int
    hands_in: bool = False
