"""Acts: an agent's actions on its team in a turn of an open roster.

An act changes nothing by itself. It is a journaled tool call like any other; the effect of a turn's
acts is decided after the turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...schema.values.values import is_mapping
from ..values.structured import answer_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .outcomes import AgentOutcome, Posted, ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class Send:
    """Sends a message to an active colleague."""

    to: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Lets a candidate join, which reads the text first."""

    agent: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Removes a colleague, or the agent itself, at the end of its current turn."""

    agent: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finalize:
    """Hands in the team's answer, which ends the run."""

    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Gives up, which ends the run without an answer."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnAnswer:
    """The result of a turn, for a colleague whose message or start the agent read in it.

    An agent need not act to reply: its result goes back to the asking colleague once, unless it
    wrote to that colleague in the same turn. A result requests no reply, so two agents never answer
    each other without end. If the colleague has left, the result is lost without notice.
    """

    to: str
    text: str


Act = Send | Start | Stop | Finalize | Terminate | TurnAnswer
"""The effect of one of the tools under `coterie.schema.team.team.ACTS`, or the result of a turn;
listing the pool has no effect."""


ASKING = frozenset({"message", "start"})


def acts(outcome: AgentOutcome, read: Sequence[Posted] = ()) -> tuple[Act, ...]:
    """Return a turn's acts on the team, in order: first its acts, then its result.

    Only the acts of its last attempt count, so a retried turn repeats nothing; a turn that is not
    done has no effect.

    Args:
        read: What the agent read at its beginning.
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
    """Return the act of a tool's name and arguments; None if the tool is not an act."""
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
    """Return the part of a structured answer that counts."""
    content, short = answer_in(answer)
    return content if short is None else short
