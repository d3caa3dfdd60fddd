"""Valid text from whatever an endpoint sends as text."""

from __future__ import annotations

from typing import Any

from ....schema.values.json_text import dumps
from ....schema.values.values import is_list


def text_of(content: Any) -> str:
    """Return the text of a content, which some endpoints send in parts."""
    if is_list(content):
        return "".join(text_of(part.get("text")) for part in content)
    return sound(as_text(content))


def as_text(value: Any) -> str:
    """Return a text unchanged, any other value as JSON, and None as an empty text."""
    return value if isinstance(value, str) else "" if value is None else dumps(value)


def sound(text: str) -> str:
    """Replace lone surrogates, which JSON can carry and UTF-8 cannot."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def place_of(index: Any) -> int | None:
    """Return an index, which some endpoints send as text; None if invalid."""
    if isinstance(index, str) and index.strip().isdecimal():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None
