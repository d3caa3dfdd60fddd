"""Text from models and tools, made safe to show on a terminal."""

from __future__ import annotations

import re

__all__ = ["speakable"]

_COMMANDS = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""Escape sequences, other control characters but tab and newline, and reordering marks."""


def speakable(text: str) -> str:
    """Leave out everything that would command the terminal instead of being shown."""
    return _COMMANDS.sub("", text)
