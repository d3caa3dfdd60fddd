"""Fields of an answer that its endpoint requires back within a loop of tool calls.

DeepSeek, Gemini and Anthropic refuse the second call of a loop without them
(api-docs.deepseek.com/guides/thinking_mode, ai.google.dev/gemini-api/docs/thought-signatures,
platform.claude.com/docs/en/build-with-claude/extended-thinking); other endpoints answer worse. The
fields are only for the model that wrote them: a fallback would refuse them or be misled.
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
"""Field of an assistant's message: the model for which its further fields are kept."""
WANTED = "reasoning_content"
"""The field that DeepSeek requires back, with an empty text if the model did not think."""
PLAIN = frozenset({"role", "content", "name", "tool_calls", "refusal"})
"""Fields of an assistant's message that any endpoint accepts."""
PLAIN_CALL = frozenset({"id", "type", "function"})


def marked(answer: ChatAnswer, model: str) -> ChatAnswer:
    """Mark an answer's kept fields with the model that wrote them.

    Args:
        model: The model's name at its endpoint.
    """
    if not answer.kept and not any(call.extra for call in answer.tool_calls):
        return answer
    return replace(answer, kept={**answer.kept, MARK: model})


def call_ids(answer: ChatAnswer, otherwise: Callable[[int], str]) -> list[str]:
    """Return distinct ids for an answer's tool calls.

    Endpoints leave ids out or repeat them. If the answer has kept fields and its ids are distinct,
    the ids stay unchanged, because kept fields may refer to them.

    Args:
        otherwise: Returns our own id for a call's number, from 0.
    """
    own = [call.id for call in answer.tool_calls]
    if answer.kept and all(own) and len({*own}) == len(own):
        return own
    return [otherwise(number) for number in range(len(own))]


def spoken(answer: ChatAnswer, ids: Sequence[str]) -> dict[str, Any]:
    """Return an answer as the message that continues a loop of tool calls, with its kept fields."""
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
    """Return messages for a model: with the fields kept for it, and without those of other models.

    DeepSeek requires its field in every message with tool calls. The field is empty if another
    model answered in between, or the model did not think.
    """
    if not any(MARK in message or WANTED in message for message in messages):
        return [*messages]
    own = [_own(message) if message.get(MARK) == model else bare(message) for message in messages]
    if not any(WANTED in message for message in own):
        return own
    return [{WANTED: "", **message} if message.get("tool_calls") else message for message in own]


def bare(message: Message) -> Message:
    """Return a message without kept fields, readable by any model."""
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
