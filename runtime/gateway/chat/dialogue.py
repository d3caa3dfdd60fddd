"""The record of a conversation between an agent and its model: text of bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ....schema.values.values import is_list, is_mapping
from .. import ChatAnswer, Message

T = TypeVar("T")

GAP = " [… {:,} characters left out …] "


def as_dialogue(messages: Sequence[Message], answer: ChatAnswer, most: int) -> tuple[Message, ...]:
    """Return a conversation as speakers and texts, tool calls included, thinking left out.

    Args:
        most: The most characters of all texts together. Beyond that, the longest texts lose their
            middle, all cut to the same length.
    """
    from .. import bare

    called = [
        {"name": tool_call.name, "arguments": tool_call.arguments}
        for tool_call in answer.tool_calls
    ]
    shown = map(bare, messages)
    pairs = [(str(message.get("role", "")), spoken(message)) for message in shown]
    pairs.append(("assistant", spoken({"content": answer.text, "tool_calls": called})))
    texts = clipped([text for _, text in pairs], most)
    return tuple(
        {"role": role, "content": text} for (role, _), text in zip(pairs, texts, strict=True)
    )


def clipped(texts: Sequence[str], most: int) -> list[str]:
    """Cut texts to `most` characters in total: the longest lose their middle, to one length."""
    longest = _longest([len(text) for text in texts], most)
    return [_clipped(text, longest) for text in texts]


def shortened(value: T, most: int) -> T:
    """Cut the texts of a JSON value to `most` characters in total, as `clipped` does."""
    if (len(value) if isinstance(value, str) else _length(value)) <= most:
        return value
    return _cut(value, _longest([len(text) for text in _texts(value)], most))


def spoken(message: Mapping[str, Any]) -> str:
    """Return a message as text, with tool calls; non-text parts appear by name."""
    content, calls = message.get("content"), message.get("tool_calls")
    parts = content if is_list(content) else [content]
    lines = [_part(part) for part in parts if part]
    lines += [_call(call) for call in (calls if is_list(calls) else ())]
    return "\n".join(lines)


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if is_list(value):
        return sum(map(_length, value))
    return sum(map(_length, value.values())) if is_mapping(value) else 0


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_list(value):
        for item in value:
            yield from _texts(item)
    elif is_mapping(value):
        for item in value.values():
            yield from _texts(item)


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return _clipped(value, longest)
    if is_list(value):
        return [_cut(item, longest) for item in value]
    if is_mapping(value):
        return {name: _cut(item, longest) for name, item in value.items()}
    return value


def _longest(lengths: Sequence[int], most: int) -> int:
    """Return the length to cut each text to, so that all together fit into `most` characters."""
    left, longest = most, max(lengths, default=0)
    for index, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - index)
        if length > share:
            return share
        left -= length
    return longest


def _clipped(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    room = longest - len(GAP.format(len(text)))
    if room <= 0:
        return text[:longest]
    tail = room // 2
    left_out = GAP.format(len(text) - room)
    return text[: room - tail] + left_out + text[len(text) - tail :]


def _part(part: Any) -> str:
    if not is_mapping(part):
        return str(part)
    return str(part["text"]) if "text" in part else f"[{part.get('type')}]"


def _call(call: Any) -> str:
    """Return a tool call as text, from the API's form or an answer's."""
    function = call.get("function", call) if is_mapping(call) else {}
    return f"{function.get('name')}({function.get('arguments')})"
