"""Text for a terminal: counts, tables, and text of models, tools and files, made safe to show."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what reorders text
    "\u2028\u2029"  # line ends that not every program takes for one
    "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # what has no width
    "\U000e0000-\U000e01ef"  # tags and more selectors: text within text
)
_JOINERS = "\u200c\u200d"
"""Characters without width that have a meaning between letters outside ASCII, and in emoji."""

_COMMAND = re.compile(
    rf"""
    (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]                          # moves, colours, modes
  | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x00-\x1f\x7f-\x9f]*   # titles, clipboard, devices
    (?: \x07 | \x1b\\ | \x9c )
  | \x1b [@-_]?
  | [{_UNSEEN}]
  | (?<![^\x00-\x7f]) [{_JOINERS}]
  | [{_JOINERS}] (?![^\x00-\x7f])
    """,
    re.VERBOSE,
)
_HALF = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile(f"[{_UNSEEN}\ud800-\udfff]")
_UNSAFE = re.compile(f"[{_UNSEEN}{_JOINERS}\ud800-\udfff]")


def speakable(text: str) -> str:
    """Remove every character that controls the terminal or deceives its reader.

    Tabs and newlines stay. A lone surrogate, which no terminal can show, becomes a replacement
    character.
    """
    return _HALF.sub("\ufffd", _COMMAND.sub("", text))


def unbroken(name: object) -> str:
    """Make a file name speakable and put it on one line; its other spaces stay unchanged."""
    return " ".join(speakable(str(name)).splitlines())


def on_one_line(text: str) -> str:
    """Make a text speakable and put it on one line, so that it cannot imitate the next line."""
    return " ".join(speakable(text).split())


def speakable_json(text: str) -> str:
    r"""Escape unspeakable characters in a JSON text (`\u001b`): the value stays the same."""
    return _UNSAFE.sub(lambda result: json.dumps(result[0])[1:-1], text)


def visible(text: str) -> str:
    """Replace invisible or reordering characters by their code: `[U+202E]`.

    For pages and files in which a person reads the text that a model saw.
    """
    plain = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda result: f"[U+{ord(result[0]):04X}]", plain)


def counted(number: int, noun: str) -> str:
    """Return a count with its noun: `1 agent`, `2 agents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def with_interval(value: float, interval: Sequence[float], sign: str = "") -> str:
    """Return a figure with its interval; the sign `+` marks a difference."""
    low, high = interval
    return f"{value:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def aligned(rows: Iterable[Sequence[str]], sides: Collection[str]) -> Iterator[str]:
    """Yield the lines of a table, each column aligned to its side: < or >."""
    lines = [*rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


def clock(seconds: float) -> str:
    """Return a time as a clock shows it: `0:07`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
