"""What is kept of a conversation between an agent and its model: text, and not too much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .gateway import ChatAnswer, Message

__all__ = ["clipped", "kept"]

GAP = " [… {:,} characters left out …] "


def kept(messages: Sequence[Message], answer: ChatAnswer, most: int) -> tuple[Message, ...]:
    """Keep a conversation: who said what, with tool calls as text.

    Args:
        messages: What the model was shown.
        answer: What it answered.
        most: Characters of all that was said. Beyond that the longest lose their middle, all to
            the same length.
    """
    called = [{"name": one.name, "arguments": one.arguments} for one in answer.tool_calls]
    said = [(str(one.get("role", "")), _text(one, one.get("tool_calls"))) for one in messages]
    said.append(("assistant", _text({"content": answer.text}, called)))
    texts = clipped([text for _, text in said], most)
    return tuple(
        {"role": role, "content": text} for (role, _), text in zip(said, texts, strict=True)
    )


def clipped(texts: Sequence[str], most: int) -> list[str]:
    """Cut texts to `most` characters together: the longest lose their middle, to one length."""
    longest = _longest([len(text) for text in texts], most)
    return [_clipped(text, longest) for text in texts]


def _longest(lengths: Sequence[int], most: int) -> int:
    """Give the length to which texts are cut, so that together they are no longer than `most`."""
    left, longest = most, max(lengths, default=0)
    for done, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - done)
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


def _text(message: Mapping[str, Any], calls: Any) -> str:
    """Give what a message says; parts that are no text are named."""
    content = message.get("content")
    parts = content if is_list(content) else [content]
    lines = [_part(one) for one in parts if one]
    lines += [_call(one) for one in (calls if is_list(calls) else ())]
    return "\n".join(lines)


def _part(part: Any) -> str:
    if not is_mapping(part):
        return str(part)
    return str(part["text"]) if "text" in part else f"[{part.get('type')}]"


def _call(call: Any) -> str:
    """Write a tool call, as the API has it or as an answer has it."""
    function = call.get("function", call) if is_mapping(call) else {}
    return f"{function.get('name')}({function.get('arguments')})"
