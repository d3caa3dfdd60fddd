"""Text for a terminal: counts, and what models and tools wrote, made safe to show."""

from __future__ import annotations

import re

__all__ = ["counted", "speakable"]

_COMMANDS = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""Escape sequences, other control characters but tab and newline, and reordering marks."""


def counted(number: int, noun: str) -> str:
    """Write a count as people do: `1 agent`, `2 agents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def speakable(text: str) -> str:
    """Leave out everything that would command the terminal instead of being shown."""
    return _COMMANDS.sub("", text)
