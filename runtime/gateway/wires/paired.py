"""A conversation in which every call of a tool has its result, as most APIs demand it.

A conversation may have been cut, or gone on with another model: calls without an id, the same id
twice, results of calls that are gone.
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
"""Characters; OpenAI takes 64, and a number may be added."""

Named = tuple[str, str]
"""A call's id in the conversation as it came, and the one that it is written with."""


def split_instructions(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Split a conversation into the instructions that it begins with, and what is said."""
    result = list(itertools.dropwhile(lambda message: message["role"] in INSTRUCTIONS, messages))
    return list(messages[: len(messages) - len(result)]), result


def is_of_assistant(message: Message) -> bool:
    """Return who speaks."""
    return message["role"] == "assistant"


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Return the calls of a message."""
    return list(message.get("tool_calls") or ())


def paired(messages: Iterable[Message]) -> list[Message]:
    """Have the results of calls come right after the assistant's turn that has the calls, in order.

    Every call has an id of its own, of letters, digits, `_` and `-`, and one result. A result of no
    call is something that the user says.
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
    """Return the results of calls, then everything else that was said."""
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
