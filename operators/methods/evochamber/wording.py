"""How what models write for archives is read: on one line, not too long, and with words in it."""

from __future__ import annotations

from ....schema.edits.offer.strict import ANY_TEXT, closed
from ....schema.values.terminal import on_one_line
from ...core.answers import InvalidAnswer, structured
from ...core.bounds import Bounds


def words(text: str, longest: int) -> str:
    """Put a text on one line and cut it to its room; it is empty where it has no words."""
    line = on_one_line(text)
    return line[:longest] if any(map(str.isalnum, line[:longest])) else ""


def required_text(name: str, text: str, longest: int) -> str:
    """Read a text that has to say something.

    Args:
        name: What it is called in the answer.

    Raises:
        InvalidAnswer: It has no words.
    """
    if not (line := words(text, longest)):
        raise InvalidAnswer(f"{name}: nothing is said there. Write some words.")
    return line


def one_text(name: str, longest: int, bounds: Bounds, answer: str) -> str:
    """Read an answer that is one text."""
    return required_text(
        name, structured(answer, closed(**{name: ANY_TEXT}), bounds)[name], longest
    )
