"""Restore answers' kept fields in the messages of a program that drops them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...schema.values.values import is_list, is_mapping
from ..gateway import ChatAnswer, Message, spoken


class KeptAnswers:
    """The answers with kept fields in a loop of tool calls.

    A program writes messages in its own form, so an answer is recognized by its tool calls.
    """

    def __init__(self) -> None:
        self._messages: dict[tuple[Any, ...], Message] = {}

    def remember(self, answer: ChatAnswer) -> None:
        """Remember an answer if it has kept fields."""
        if answer.kept:
            message = spoken(answer, numbered(answer))
            self._messages[_calls(message)] = message

    def given_back(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages with their kept fields restored."""
        return [
            self._messages.get(_calls(message), message) if _calls(message) else message
            for message in messages
        ]


def numbered(answer: ChatAnswer) -> list[str]:
    """Return an id for each of an answer's tool calls: the model's own if it has one."""
    return [call.id or f"call_{number}" for number, call in enumerate(answer.tool_calls)]


def _calls(message: Message) -> tuple[Any, ...]:
    """Return the key by which a message's tool calls are recognized."""
    calls: Any = message.get("tool_calls")
    listed = filter(is_mapping, calls if is_list(calls) else ())
    functions = ((call.get("id"), call.get("function") or {}) for call in listed)
    return tuple(
        (function, str(result.get("name")), str(result.get("arguments")))
        for function, result in functions
    )
