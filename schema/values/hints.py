"""Suggestions for unknown words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from .problems import quoted

MOST_NAMES = 1_000
"""The maximum number of names compared with a word."""
LONGEST_WORD = 100
"""Maximum characters of a word that is compared."""
MOST_COMPARED = 20_000
"""The maximum number of exactly compared character pairs: many short names, few long ones."""
LEAST = 0.7
"""The minimum similarity of a name to a word, from 0 to 1."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return the nearest known word as a sentence; empty if none is near."""
    names = list(islice(choices, MOST_NAMES))
    text = near(word, names)
    if text is None:
        folded = {name.casefold(): name for name in names}
        text = folded.get(word.casefold())
    return f" Did you mean {quoted(text)}?" if text is not None else ""


def near(word: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to a word; None if none is near.

    Comparing two texts takes time in proportion to the product of their lengths. So among many long
    names with the word's letters, only those that share most letters are compared.
    """
    from difflib import SequenceMatcher, get_close_matches

    if len(word) > LONGEST_WORD:
        return None
    matcher = SequenceMatcher()
    matcher.set_seq2(word)
    likely: list[tuple[float, str]] = []
    for name in islice(names, MOST_NAMES):
        matcher.set_seq1(name[:LONGEST_WORD])
        if matcher.real_quick_ratio() >= LEAST and (ratio := matcher.quick_ratio()) >= LEAST:
            likely.append((ratio, name))
    likely.sort(key=lambda pair: -pair[0])
    room = MOST_COMPARED
    compared: list[str] = []
    for _, name in likely:
        room -= len(word) * len(name)
        if room < 0 and compared:
            break
        compared.append(name)
    return next(iter(get_close_matches(word, compared, n=1, cutoff=LEAST)), None)


def listed(names: Iterable[str], most: int = 8) -> str:
    """List the first names, and count the others."""
    shown = list(names)
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more if shown else "none"
