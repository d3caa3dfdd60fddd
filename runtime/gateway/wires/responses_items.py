"""Convert a chat API conversation into the items of the Responses API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....schema.values.values import is_list
from ..chat.messages import Message, text_of
from .paired import calls_of, paired, split_instructions

Item = dict[str, Any]


def items_of(messages: Sequence[Message]) -> tuple[str, list[Item]]:
    """Return the instructions at the start of a conversation, and the items that follow.

    Args:
        messages: The conversation, with the kept fields of the assistant's thinking.
    """
    leading, result = split_instructions(messages)
    instructions = "\n\n".join(
        filter(None, (text_of(message.get("content")) for message in leading))
    )
    items = [item for message in paired(result) for item in _items(message)]
    return instructions, items or [{"role": "user", "content": ""}]


def _items(message: Message) -> list[Item]:
    content = message.get("content")
    match message["role"]:
        case "assistant":
            text = text_of(content)
            words = [{"role": "assistant", "content": text}] if text else []
            return _original_items(message) or [*words, *map(_call, calls_of(message))]
        case "tool":
            return [
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": text_of(content),
                }
            ]
        case role:
            parts = [_part(part) for part in content] if is_list(content) else content or ""
            return [{"role": role, "content": parts}]


def _original_items(message: Message) -> list[Item]:
    """Return the items of the original answer, if they belong to this message's calls."""
    items: Sequence[Mapping[str, Any]] = message.get("output_items") or ()
    ids = [item["call_id"] for item in items if item["type"] == "function_call"]
    is_same = ids == [call["id"] for call in calls_of(message)]
    return [dict(item) for item in items] if is_same else []


def _call(call: Mapping[str, Any]) -> Item:
    function: Mapping[str, Any] = call["function"]
    return {
        "type": "function_call",
        "call_id": call["id"],
        "name": function["name"],
        "arguments": function.get("arguments") or "{}",
    }


def _part(part: Mapping[str, Any]) -> Item:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    if part["type"] == "image_url":
        image: Mapping[str, Any] = part["image_url"]
        detail = {"detail": image["detail"]} if "detail" in image else {}
        return {"type": "input_image", "image_url": image["url"], **detail}
    if part["type"] == "file":  # openai-python, `response_input_file_param.py`
        return {"type": "input_file", **part["file"]}
    return dict(part)
