"""The events of an open roster's run: who took which mail, what was posted, who came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..agents.posted import Ended, Taken, TurnDone

if TYPE_CHECKING:
    from ..agents.outcomes import Run
    from ..agents.posted import Event, Posted
    from ..record.trace import Trace
    from .bus import Bus


def happen(bus: Bus, event: Event, trace: Trace) -> None:
    """Have something happen to a roster, and tell it."""
    before = dict(bus.active)
    match event:
        case Taken():
            records = [_message_fields(bus.posted[number - 1]) for number in event.messages]
            bus.apply(event)
            trace.emit("mail_taken", event.agent, turn=event.turn, messages=records)
        case TurnDone():
            _tell_what_is_back(bus, event, trace)
            bus.apply(event)
            for posted in event.posted:
                trace.emit(
                    "message_posted",
                    posted.sender or None,
                    **_message_fields(posted),
                    text=posted.text,
                )
            _tell_who_came_and_went(bus, before, event, trace)
        case Ended():
            bus.apply(event)


def _tell_what_is_back(bus: Bus, done: TurnDone, trace: Trace) -> None:
    """Tell of the mail of a turn that came to nothing."""
    if done.status != "done":
        numbers = [*bus.at_work[done.agent].messages]
        trace.emit("mail_returned", done.agent, turn=done.turn, messages=numbers)


def _tell_who_came_and_went(bus: Bus, before: dict[str, str], done: TurnDone, trace: Trace) -> None:
    for name in before:  # first: whose place others may have taken
        if name not in bus.active:
            trace.emit("agent_left", name, failed=done.status == "failed")
    for name, by in bus.active.items():
        if name not in before:
            trace.emit("agent_joined", name, by=by)


def tell_end(run: Run, trace: Trace) -> None:
    """Tell how a run ended."""
    if (ending := run.ending) is not None:
        counted = {"turns": dict(ending.turns), "sent": ending.sent, "unread": ending.unread}
        trace.emit("roster_ended", ending.by, why=ending.why, **counted)


def _message_fields(posted: Posted) -> dict[str, object]:
    return {"number": posted.number, "sender": posted.sender, "to": posted.to, "kind": posted.kind}
