"""An agent's conversation, turn by turn: what it was shown, said and did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...schema.values.json_text import dumps
from ...schema.values.values import is_list, is_mapping
from ..gateway.chat.dialogue import spoken
from ..showing.conversation import AnsweredCall, news
from ..showing.recorded import Recorded
from ..showing.saying import event_text

TROUBLE = frozenset(
    {
        "agent_moved",
        "agent_retried",
        "cut_off",
        "mail_returned",
        "model_error",
        "model_fallback",
        "model_retried",
        "only_thought",
        "operator_dropped",
        "repair",
        "step_failed",
    }
)
"""Types of events that report a problem."""
SHOWN_ELSEWHERE = frozenset({"agent_started", "agent_finished", "agent_given", "drafted"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownTurn:
    """A turn of a conversation.

    Attributes:
        kind: `says` for a model call, `tool` for a tool call, `note` for the rest.
        seconds: When it ended, since the start of the run.
        head: A short description.
        shown: The messages that were new to the model: roles and texts.
    """

    kind: str
    anchor: str
    number: int
    seconds: float
    head: str
    is_trouble: bool = False
    shown: Sequence[tuple[str, str]] = ()
    thinking: str = ""
    answer: str = ""
    arguments: str = ""


def anchor_of(event: Mapping[str, Any]) -> str:
    """Return an event's id on the page: for a call its path, which runs of one plan share."""
    return f"call-{event['path']}" if event["type"] == "model_call" else f"event-{event['n']}"


def is_trouble(event: Mapping[str, Any]) -> bool:
    """Return whether an event reports a problem."""
    if event["type"] == "tool_call":
        return "error" in event
    if event["type"] == "agent_finished":
        return event.get("status") not in {"done", "cancelled"}
    return event["type"] in TROUBLE


def turns(run: Recorded, agent: str, times: Mapping[int, float]) -> Iterator[ShownTurn]:
    """Yield the turns of an agent, or of another caller of a model, such as a judge."""
    own = news(run.calls_by(agent))
    new = {call.event["n"]: (call, messages) for call, messages in own}
    for event in run.events_of(agent):
        number = event["n"]
        who = event.get("agent") or event.get("operator")
        if event["type"] == "model_call":
            if number in new:
                yield _says(*new[number], times[number])
        elif who == agent and event["type"] == "tool_call":
            yield _tool(event, times[number])
        elif who == agent and (text := _noted(event)):
            yield ShownTurn(
                kind="note",
                anchor=anchor_of(event),
                number=number,
                seconds=times[number],
                head=text,
                is_trouble=is_trouble(event),
            )


def _noted(event: Mapping[str, Any]) -> str:
    return "" if event["type"] in SHOWN_ELSEWHERE else event_text(event["type"], event)


def _says(call: AnsweredCall, new: Sequence[Mapping[str, Any]], seconds: float) -> ShownTurn:
    event = call.event
    return ShownTurn(
        kind="says",
        anchor=anchor_of(event),
        number=event["n"],
        seconds=seconds,
        head=event_text("model_call", event) + (" — cut off" if call.is_cut_off else ""),
        is_trouble=call.is_cut_off or call.is_substituted,
        shown=[(str(fields.get("role")), spoken(fields)) for fields in new],
        thinking=str(event.get("thinking") or ""),
        answer=spoken(call.answer),
    )


def _tool(event: Mapping[str, Any], seconds: float) -> ShownTurn:
    took = f", {event['seconds']:.1f} s" if "seconds" in event else ""
    failed = "error" in event
    return ShownTurn(
        kind="tool",
        anchor=anchor_of(event),
        number=event["n"],
        seconds=seconds,
        head=f"{event['tool']}{took}" + (" — failed" if failed else ""),
        is_trouble=failed,
        arguments=dumps(event["arguments"], ensure_ascii=False, indent=2),
        answer=str(event["error"] if failed else event.get("result")),
    )


def steps_of(steps: Sequence[Any]) -> Iterator[dict[str, str]]:
    """Yield the steps of an agent that writes code: the code, and its result.

    Raises:
        TypeError: A step is no object.
    """
    for number, step in enumerate(steps, 1):
        if not is_mapping(step):
            raise TypeError(f"step {number} of an agent is not an object: {step!r}")
        calls = step.get("calls")
        ran = [
            f"{call.get('name')}({call.get('arguments')})"
            for call in (calls if is_list(calls) else ())
            if is_mapping(call)
        ]
        code = step.get("code") or step.get("command")
        yield {
            "number": str(step.get("step", number)),
            "ran": "\n".join([whole(code)] if code else ran),
            "came": whole(step.get("observations") or step.get("output")),
            "error": whole(step.get("error")),
        }


def whole(value: Any) -> str:
    """Return a value as text, as JSON if it is no string; empty for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False, indent=2)
