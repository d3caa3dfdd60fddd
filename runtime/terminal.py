"""Text for a terminal: counts, and what models and tools wrote, made safe to show."""

from __future__ import annotations

from ..schema.terminal import on_one_line, speakable, speakable_json

__all__ = ["counted", "on_one_line", "speakable", "speakable_json"]


def counted(number: int, noun: str) -> str:
    """Write a count as people do: `1 agent`, `2 agents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
