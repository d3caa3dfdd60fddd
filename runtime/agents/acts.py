"""Acts: what an agent of an open roster does to its team in a turn.

An act changes nothing by itself. It is a tool call like any other, journaled as they are; what the
acts of a turn come to is decided when the turn has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...schema.values.values import is_mapping
from ..values.structured import answer_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tools import ToolCall
    from .outcomes import AgentOutcome
    from .posted import Posted


@dataclass(frozen=True, kw_only=True, slots=True)
class Send:
    """Writes to a colleague who is active."""

    to: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Has a candidate join, which reads the text first."""

    agent: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Has a colleague leave, or the agent itself, once it has ended the turn that it is in."""

    agent: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finalize:
    """Hands in the team's answer, and so ends the run."""

    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Gives up, and so ends the run without an answer."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnAnswer:
    """The result of a turn, for a colleague whose message or start the agent read in it.

    Nobody has to act to be heard: what it is asked for goes back by itself, once, unless it wrote
    to that colleague in the same turn. An answer asks for none, so no two agents answer each other
    without end. Where the colleague has left, it is lost, and nobody is told.
    """

    to: str
    text: str


Act = Send | Start | Stop | Finalize | Terminate | TurnAnswer
"""What one of the tools under `coterie.schema.team.team.ACTS` does, or how a turn
ended; listing the pool changes nothing."""


ASKING = frozenset({"message", "start"})


def acts(outcome: AgentOutcome, read: Sequence[Posted] = ()) -> tuple[Act, ...]:
    """Read off a turn what it does to the team, in order: what it did, then its result.

    Only what it did in its last attempt counts, so a turn that is tried again says nothing twice;
    and a turn that is not done does nothing.

    Args:
        read: What the agent read as it began.
    """
    if outcome.status != "done":
        return ()
    chosen = tuple(_acts_of(outcome.tool_calls))
    text = outcome.result.content.strip() if outcome.result else ""
    if not text or any(isinstance(act, Finalize | Terminate) for act in chosen):
        return chosen
    written = {act.to for act in chosen if isinstance(act, Send)}
    started = {act.agent for act in chosen if isinstance(act, Start)}
    askers = dict.fromkeys(
        posted.sender for posted in read if posted.kind in ASKING and posted.sender
    )
    informed = written | started
    return (
        *chosen,
        *(TurnAnswer(to=asker, text=text) for asker in askers if asker not in informed),
    )


def _acts_of(calls: Sequence[ToolCall]) -> Iterator[Act]:
    for call in calls:
        act = act_of(call.tool, call.arguments) if call.error is None else None
        if act is not None:
            yield act


def act_of(tool: str, arguments: Any) -> Act | None:
    """Read an act off a tool's name and its arguments; None where it is none."""
    fields = arguments if is_mapping(arguments) else {}
    match tool, fields:
        case "send", {"to": str(to), "text": str(text)}:
            return Send(to=to, text=text)
        case "start_agent", {"agent": str(agent), "text": str(text)}:
            return Start(agent=agent, text=text)
        case "stop_agent", {"agent": str(agent)}:
            return Stop(agent=agent)
        case "finalize", {"answer": answer}:
            return Finalize(answer=answer if isinstance(answer, str) else _text(answer))
        case "terminate", {"reason": str(reason)}:
            return Terminate(reason=reason)
        case _:
            return None


def _text(answer: Any) -> str:
    """Return an answer that has a form as what counts of it."""
    content, short = answer_in(answer)
    return content if short is None else short
