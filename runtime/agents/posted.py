"""Events on the bus of an open roster, as values, and what an agent reads of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...schema.values.codec import stored
from .outcomes import Posted, Why


@stored(tag=("event", "taken"))
class TurnStart:
    """An agent took its mail, and began a turn.

    Attributes:
        turn: The number of the turn, from 1.
        messages: The numbers of the messages that it took, in order.
    """

    agent: str
    turn: int
    messages: tuple[int, ...]


@stored(tag=("event", "turn_done"))
class TurnDone:
    """A turn ended.

    Attributes:
        status: Whether it was done, failed, or was cut off by the end of the run.
        posted: The messages sent, and notices of refused ones.
    """

    agent: str
    turn: int
    status: Literal["done", "failed", "cancelled"] = "done"
    posted: tuple[Posted, ...] = ()


@stored(tag=("event", "ended"))
class Ended:
    """The run ended.

    Attributes:
        by: The agent that ended it, if one did.
        text: The answer, or the given reason.
    """

    why: Why
    by: str | None = None
    text: str = ""


Event = TurnStart | TurnDone | Ended


@dataclass(frozen=True, kw_only=True, slots=True)
class Mail:
    """What an agent reads as its turn begins, and the state of its team then.

    Attributes:
        turn: The number of its turn, from 1.
        messages: The messages that it took, in posting order.
        active: The active agents, itself included, in the order in which they joined.
        candidates: The inactive agents that it may start.
        messages_left: The messages that the team may still send.
        turns_left: The turns that it has after this one.
        places_left: The number of further agents that may be active.
        hands_in: Whether the run is over, and it must hand in what there is, without tools.
    """

    turn: int
    messages: tuple[Posted, ...]
    active: tuple[str, ...]
    candidates: tuple[str, ...]
    messages_left: int
    turns_left: int
    places_left: int
    hands_in: bool = False
