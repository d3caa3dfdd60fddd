"""The messages that an agent's model was shown, and its answers, call by call, without repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..gateway.chat.ending import is_cut_off
from ..values.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class AnsweredCall:
    """A model call that was answered.

    Attributes:
        agent: The agent that made it, or the name of an operator or a judge.
        path: Its path, which does not depend on scheduling.
        seconds: When it was answered, since the start of the run.
    """

    agent: str
    path: str
    seconds: float
    event: Mapping[str, Any]

    @property
    def usage(self) -> Usage:
        """Its token usage."""
        return Usage(**self.event["usage"])

    @property
    def answer(self) -> Mapping[str, Any]:
        """The model's answer, as a message of the conversation."""
        called = self.event["tool_calls"]
        fields = {"role": "assistant", "content": self.event["text"]}
        return {**fields, "tool_calls": called} if called else fields

    @property
    def is_cut_off(self) -> bool:
        """Whether the answer was cut off before its end."""
        return is_cut_off(self.event.get("finish_reason"))

    @property
    def is_substituted(self) -> bool:
        """Whether a model other than the requested one answered."""
        return "answered_by" in self.event


def calls_of(events: Iterable[Mapping[str, Any]]) -> Sequence[AnsweredCall]:
    """Return the answered calls; a call that a resumed run reported again counts once."""
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
    """Yield each call of a conversation with its new messages.

    Each call shows a model the whole conversation again; a person reads each message once.
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
