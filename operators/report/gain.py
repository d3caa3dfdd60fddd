"""The gain of an evolution in words: what a commit says of it, and what a command prints."""

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
"""Characters of a subject that say what changed, however long the team's name is."""
WIDTH = 72
"""Characters of a line, as git's own messages have them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """How a new team did beside the original, on held-back tasks.

    Attributes:
        original: The original's mean score, in [0, 1].
        interval: Its 95 % interval.
        tasks: How many tasks were held back.
        calls: What the search cost in model calls, of agents and operators.
        usd: What they cost in USD; None where a price is unknown.
    """

    original: float
    new: float
    gain: float
    interval: Interval
    tasks: int
    calls: int
    usd: float | None


def gain_message(team: str, edits: Sequence[str], reasons: Sequence[str], measured: Gain) -> str:
    """Write the message of a commit: what changed, why, and what it gains.

    Args:
        edits: What changed, as `edit_words` says it.
        reasons: The hypotheses that the edits stand for, the one that gained most first.
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
    """Write `Original 0.18, now 0.67; 580 calls, $0.84.`."""
    calls = f"{measured.calls:,} call{'' if measured.calls == 1 else 's'}"
    scores = f"Original {measured.original:.2f}, now {measured.new:.2f}"
    return f"{scores}; {calls}, {_price(measured.usd)}."


def _price(usd: float | None) -> str:
    if usd is None:
        return "price unknown"
    return "free" if usd == 0 else f"${usd:.2f}" if usd >= 0.01 else f"${usd:.4f}"
