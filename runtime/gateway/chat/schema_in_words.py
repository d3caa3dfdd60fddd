"""Describe a schema in the prompt, for endpoints that cannot enforce it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...prompts import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .messages import Message


def with_schema(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """Add the answer's schema to the messages, unless they already contain it.

    Returns:
        The messages; the schema is at the end of the instructions, or in a message of its own
        before a first message that has another role.
    """
    first = messages[0] if messages else {}
    if any(_holds(message, schema) for message in messages):
        return list(messages)
    text = render("schema", schema=json.dumps(schema, ensure_ascii=False))
    if first.get("role") == "system" and isinstance(first.get("content"), str):
        return [{**first, "content": f"{first['content']}\n\n{text}"}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def _holds(message: Message, schema: Mapping[str, Any]) -> bool:
    content = message.get("content")
    written = (json.dumps(schema, ensure_ascii=way) for way in (True, False))
    return isinstance(content, str) and any(text in content for text in written)
