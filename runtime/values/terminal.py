"""Text for a terminal: counts, and text of models and tools, made safe to show."""

from __future__ import annotations

from ...schema.values.terminal import on_one_line, speakable, speakable_json, unbroken

__all__ = ["clock", "counted", "on_one_line", "speakable", "speakable_json", "unbroken"]


def counted(number: int, noun: str) -> str:
    """Return a count with its noun: `1 agent`, `2 agents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def clock(seconds: float) -> str:
    """Return a time as a clock shows it: `0:07`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
