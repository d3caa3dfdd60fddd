"""Text for a terminal: counts, and what models and tools wrote, made safe to show."""

from __future__ import annotations

from collections.abc import Sequence

from ...schema.values.terminal import on_one_line, speakable, speakable_json, unbroken

__all__ = [
    "clock",
    "counted",
    "on_one_line",
    "speakable",
    "speakable_json",
    "unbroken",
    "with_interval",
]


def counted(number: int, noun: str) -> str:
    """Write a count as people do: `1 agent`, `2 agents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def with_interval(value: float, interval: Sequence[float], sign: str = "") -> str:
    """Write a figure with its interval; with `+` as sign, it is a difference."""
    low, high = interval
    return f"{value:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def clock(seconds: float) -> str:
    """Write a time as a clock shows it: `0:07`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
