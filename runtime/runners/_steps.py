"""What an agent did on the way, short enough to be kept with every run."""

from __future__ import annotations

from typing import Any

from ...schema.json_text import dumps

__all__ = ["shortened"]

LARGEST_TEXT = 4000
"""Characters that are kept of one text of a step."""


def shortened(value: Any) -> str:
    """Give a text, or a value as JSON text, without its middle where it is long."""
    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False, default=str)
    left_out = len(text) - LARGEST_TEXT
    if left_out <= 0:
        return text
    half = LARGEST_TEXT // 2
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
