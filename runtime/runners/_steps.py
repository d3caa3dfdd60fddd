"""What an agent did on the way, short enough to be kept with every run."""

from __future__ import annotations

from typing import Any

from ...schema.values.json_text import dumps
from ..values.bounds import without_middle

LARGEST_TEXT = 4000
"""Characters that are kept of one text of a step."""


def shortened(value: Any) -> str:
    """Return a text, or a value as JSON text, without its middle where it is long."""
    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False, default=str)
    return without_middle(text, LARGEST_TEXT)
