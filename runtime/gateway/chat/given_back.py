"""What an endpoint wants back of its own answers, within a loop of tool calls.

DeepSeek, Gemini and Anthropic refuse the second call of a loop that comes without it
(api-docs.deepseek.com/guides/thinking_mode, ai.google.dev/gemini-api/docs/thought-signatures,
platform.claude.com/docs/en/build-with-claude/extended-thinking); others answer worse. It is meant
for the model that wrote it: another one, a fallback, would refuse it or be misled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....schema.values.values import is_list, is_mapping
from .thinking import FIELDS, thought_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .messages import ChatAnswer, Message

MARK = "kept_for"
"""Field of an assistant's message that says for which model its further fields are kept."""
WANTED = "reasoning_content"
"""What DeepSeek wants back, as an empty text where there is none."""
PLAIN = frozenset({"role", "content", "name", "tool_calls", "refusal"})
"""Fields of an assistant's message that any endpoint takes."""
PLAIN_CALL = frozenset({"id", "type", "function"})


def marked(answer: ChatAnswer, model: str) -> ChatAnswer:
    """Say in what is kept of an answer whose it is.

    Args:
        model: The model, by the name that its endpoint knows.
    """
    if not answer.kept and not any(call.extra for call in answer.tool_calls):
        return answer
    return replace(answer, kept={**answer.kept, MARK: model})


def call_ids(answer: ChatAnswer, otherwise: Callable[[int], str]) -> list[str]:
    """Return ids for an answer's tool calls that tell them apart.

    Endpoints leave ids out or repeat them. Where something is kept with the calls, theirs stay, as
    far as they can: what is kept may speak of them.

    Args:
        otherwise: Gives an id of ours for the call of a number, from 0.
    """
    own = [call.id for call in answer.tool_calls]
    if answer.kept and all(own) and len({*own}) == len(own):
        return own
    return [otherwise(number) for number in range(len(own))]


def spoken(answer: ChatAnswer, ids: Sequence[str]) -> dict[str, Any]:
    """Write an answer as the message that a loop of tool calls goes on with, what is kept in it.

    Args:
        ids: Of its tool calls, as their results name them.
    """
    calls = [
        {
            "id": name,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
            **call.extra,
        }
        for name, call in zip(ids, answer.tool_calls, strict=True)
    ]
    return {
        "role": "assistant",
        "content": answer.text or None,
        **({"tool_calls": calls} if calls else {}),
        **answer.kept,
    }


def meant_for(messages: Sequence[Message], model: str) -> list[Message]:
    """Return messages as a model may read them: with what was kept for it, and nothing of others.

    DeepSeek wants its field with every message that calls tools. Where another model answered
    between, or it did not think, the field is empty.
    """
    if not any(MARK in message or WANTED in message for message in messages):
        return [*messages]
    own = [_own(message) if message.get(MARK) == model else bare(message) for message in messages]
    if not any(WANTED in message for message in own):
        return own
    return [{WANTED: "", **message} if message.get("tool_calls") else message for message in own]


def bare(message: Message) -> Message:
    """Return a message without anything that was kept, as any reader may see it."""
    if MARK not in message:
        return message
    fields = {name: item for name, item in message.items() if name in PLAIN}
    content: Any = fields.get("content")
    if content is not None and not any(name in message for name in FIELDS):
        fields["content"] = thought_of({"content": content}).text or None
    if is_list(calls := fields.get("tool_calls")):
        fields["tool_calls"] = [_bare_call(call) for call in calls]
    return fields


def _own(message: Message) -> Message:
    return {name: item for name, item in message.items() if name != MARK}


def _bare_call(call: Any) -> Any:
    if not is_mapping(call):
        return call
    return {name: item for name, item in call.items() if name in PLAIN_CALL}
