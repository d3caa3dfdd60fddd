"""What an agent's model was shown and what it said, call by call, each message once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..gateway.chat.ending import is_cut_off
from ..values.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class AnsweredCall:
    """A call of a model that was answered.

    Attributes:
        agent: Whose; an operator's or a judge's name, where it is no agent's.
        path: Which it is; it does not depend on scheduling.
        seconds: When it was answered, counted from the start of the run.
    """

    agent: str
    path: str
    seconds: float
    event: Mapping[str, Any]

    @property
    def usage(self) -> Usage:
        """What it consumed."""
        return Usage(**self.event["usage"])

    @property
    def answer(self) -> Mapping[str, Any]:
        """What the model said, as a message of the conversation."""
        called = self.event["tool_calls"]
        fields = {"role": "assistant", "content": self.event["text"]}
        return {**fields, "tool_calls": called} if called else fields

    @property
    def is_cut_off(self) -> bool:
        """Whether the answer ended before it was at its end."""
        return is_cut_off(self.event.get("finish_reason"))

    @property
    def is_substituted(self) -> bool:
        """Whether another model answered than the one that was asked."""
        return "answered_by" in self.event


def calls_of(events: Iterable[Mapping[str, Any]]) -> Sequence[AnsweredCall]:
    """Find the calls that were answered; one that a resumed run told again counts once."""
    table: dict[tuple[str, str], AnsweredCall] = {}
    for event in events:
        if event["type"] == "model_call":
            call = _call(event)
            table[call.agent, call.path] = call
    return [*table.values()]


def _call(event: Mapping[str, Any]) -> AnsweredCall:
    who = event.get("agent") or event.get("operator") or ""
    return AnsweredCall(agent=who, path=event["path"], seconds=event["t"], event=event)


def news(
    calls: Sequence[AnsweredCall],
) -> Iterator[tuple[AnsweredCall, Sequence[Mapping[str, Any]]]]:
    """Yield each call of a conversation with those of its messages that are new.

    A model is shown everything again with each call; a person reads it once.
    """
    before: list[Mapping[str, Any]] = []
    for call in calls:
        messages: Sequence[Mapping[str, Any]] = call.event["messages"]
        alike = 0
        for fields, message in zip(before, messages, strict=False):
            if _role_and_content(fields) != _role_and_content(message):
                break
            alike += 1
        yield call, messages[alike:]
        before = [*messages, call.answer]


def _role_and_content(message: Mapping[str, Any]) -> tuple[Any, Any]:
    return message.get("role"), message.get("content") or None
