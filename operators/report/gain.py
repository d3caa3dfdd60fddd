"""The gain of an evolution in words, for a commit message and for the terminal."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...schema.values.terminal import on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...pool.values.intervals import Interval

LONGEST_SUBJECT = 100
LEAST_WORDS = 24
"""The fewest characters of a subject that describe the change, however long the team's name is."""
WIDTH = 72
"""The most characters of a line, as in git's own messages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """A new team's result compared with the original's, on held-back tasks.

    Attributes:
        original: The original's mean score, in [0, 1].
        interval: The 95 % interval of the gain.
        tasks: The number of held-back tasks.
        calls: The model calls of the search, by agents and operators.
        usd: Their cost in USD; None if a price is unknown.
    """

    original: float
    new: float
    gain: float
    interval: Interval
    tasks: int
    calls: int
    usd: float | None


def gain_message(team: str, edits: Sequence[str], reasons: Sequence[str], measured: Gain) -> str:
    """Return a commit message: the change, the reasons, and the gain.

    Args:
        edits: The changes, from `edit_words`.
        reasons: The hypotheses behind the edits, the one with the highest gain first.
    """
    lines = [_subject(team, [*reasons] or [*edits], measured), ""]
    lines += map(_filled, edits)
    lines += [_filled(f"Why: {reason}") for reason in reasons]
    lines.append(_figures(measured))
    return "\n".join(lines)


def _subject(team: str, sentences: Sequence[str], measured: Gain) -> str:
    low, high = measured.interval
    tasks = f"{measured.tasks} held-back task{'' if measured.tasks == 1 else 's'}"
    gained = f"({measured.gain:+.2f} [{low:.2f}, {high:.2f}] on {tasks})"
    more = f", and {len(sentences) - 1} more" if len(sentences) > 1 else ""
    room = LONGEST_SUBJECT - len(f"{team}: {more} {gained}")
    first = on_one_line(sentences[0]).rstrip(".") if sentences else "another team"
    return f"{team}: {_shortened(first, max(room, LEAST_WORDS))}{more} {gained}"


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _filled(sentence: str) -> str:
    text = on_one_line(sentence)
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _figures(measured: Gain) -> str:
    """Return a line such as `Original 0.18, now 0.67; 580 calls, $0.84.`."""
    calls = f"{measured.calls:,} call{'' if measured.calls == 1 else 's'}"
    scores = f"Original {measured.original:.2f}, now {measured.new:.2f}"
    return f"{scores}; {calls}, {_price(measured.usd)}."


def _price(usd: float | None) -> str:
    if usd is None:
        return "price unknown"
    return "free" if usd == 0 else f"${usd:.2f}" if usd >= 0.01 else f"${usd:.4f}"
