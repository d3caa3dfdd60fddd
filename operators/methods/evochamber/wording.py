"""Parsing of texts that models write for archives: one line, bounded, and not without words."""

from __future__ import annotations

from ....schema.edits.offer.strict import ANY_TEXT, closed
from ....schema.values.terminal import on_one_line
from ...core.answers import InvalidAnswer, structured
from ...core.bounds import Bounds


def words(text: str, longest: int) -> str:
    """Return a text on one line, cut to a length; "" if it has no letters or digits."""
    line = on_one_line(text)
    return line[:longest] if any(map(str.isalnum, line[:longest])) else ""


def required_text(name: str, text: str, longest: int) -> str:
    """Return a text on one line, which must not be empty.

    Raises:
        InvalidAnswer: It has no letters or digits.
    """
    if not (line := words(text, longest)):
        raise InvalidAnswer(f"{name}: nothing is said there. Write some words.")
    return line


def one_text(name: str, longest: int, bounds: Bounds, answer: str) -> str:
    """Parse an answer that has a single text."""
    return required_text(
        name, structured(answer, closed(**{name: ANY_TEXT}), bounds)[name], longest
    )
