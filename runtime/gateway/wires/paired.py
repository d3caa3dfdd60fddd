"""Repair a conversation so that every tool call has its result, as most APIs require.

A conversation may have been cut, or continued by another model: calls without an id, repeated ids,
results without a call.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..chat.messages import Message

NO_RESULT = "This call has no result."
INSTRUCTIONS = frozenset({"system", "developer"})
LONGEST_ID = 48
"""The most characters of an id; OpenAI accepts 64, and a number may be added."""

Named = tuple[str, str]
"""A call's original id in the conversation, and its new one."""


def split_instructions(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Split a conversation into its leading instructions and the rest."""
    result = list(itertools.dropwhile(lambda message: message["role"] in INSTRUCTIONS, messages))
    return list(messages[: len(messages) - len(result)]), result


def is_of_assistant(message: Message) -> bool:
    """Return whether the assistant wrote a message."""
    return message["role"] == "assistant"


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Return the tool calls of a message."""
    return list(message.get("tool_calls") or ())


def paired(messages: Iterable[Message]) -> list[Message]:
    """Move the results of calls right behind the assistant's turn that has the calls, in order.

    Every call gets a unique id of letters, digits, `_` and `-`, and one result. A result without a
    call becomes a user message.
    """
    whole: list[Message] = []
    used, waiting = set[str](), list[Named]()
    for speaks, group in itertools.groupby(messages, is_of_assistant):
        if speaks:
            for message in group:
                named, names = _named(message, used)
                whole.append(named)
                waiting += names
        else:
            whole += _answered(list(group), waiting)
            waiting = []
    return [*whole, *_answered([], waiting)]


def _named(message: Message, used: set[str]) -> tuple[Message, list[Named]]:
    calls = calls_of(message)
    names = [(name, _unused(name, used)) for name in (str(call.get("id") or "") for call in calls)]
    if not calls:
        return message, []
    renamed = [{**call, "id": name} for call, (_, name) in zip(calls, names, strict=True)]
    return {**message, "tool_calls": renamed}, names


def _unused(call: str, used: set[str]) -> str:
    name = re.sub(r"[^\w-]", "_", call, flags=re.ASCII)[:LONGEST_ID] or "call"
    names = (name if count == 1 else f"{name}_{count}" for count in itertools.count(1))
    unused = next(word for word in names if word not in used)
    used.add(unused)
    return unused


def _answered(messages: Sequence[Message], calls: Iterable[Named]) -> list[Message]:
    """Return the results of calls, then all other messages."""
    left = list(messages)
    results: list[Message] = []
    for call_id, name in calls:
        result = next(
            (message for message in left if _is_result(message, call_id)), {"content": NO_RESULT}
        )
        left = [message for message in left if message is not result]
        results.append({"role": "tool", "tool_call_id": name, "content": result.get("content")})
    others = (
        {**message, "role": "user"} if message["role"] == "tool" else message for message in left
    )
    return [*results, *others]


def _is_result(message: Message, call: str) -> bool:
    return message["role"] == "tool" and str(message.get("tool_call_id") or "") == call
