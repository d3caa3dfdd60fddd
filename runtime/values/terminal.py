"""Text for a terminal: counts, and what models and tools wrote, made safe to show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ...schema.values.terminal import on_one_line, speakable, speakable_json, unbroken

__all__ = [
    "aligned",
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


def aligned(rows: Iterable[Sequence[str]], sides: Collection[str]) -> Iterator[str]:
    """Yield the lines of a table, each column of which is even on its side: < or >."""
    lines = [*rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


def clock(seconds: float) -> str:
    """Write a time as a clock shows it: `0:07`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
