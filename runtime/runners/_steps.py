"""An agent's steps, short enough to keep with every run."""

from __future__ import annotations

from typing import Any

from ...schema.values.json_text import dumps
from ..values.bounds import without_middle

LARGEST_TEXT = 4000
"""The most characters to keep of one text of a step."""


def shortened(value: Any) -> str:
    """Return a text, or a value as JSON text; if long, without its middle."""
    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False, default=str)
    return without_middle(text, LARGEST_TEXT)
