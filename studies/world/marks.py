"""Marks: what worlds write into texts, and all that they read of any."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = re.compile(r"\[\[(\w+): ([^\[\]]*)\]\]")
FILLER = "So it goes on, step by step, and nothing here is of any use to who reads it. "
CHARACTERS = 4
"""In a token."""


def mark(kind: str, *fields: object) -> str:
    """Write something so that whoever in the world reads the text finds it."""
    return f"[[{kind}: {' | '.join(map(str, fields))}]]"


def marks(text: str, *kinds: str) -> list[tuple[str, ...]]:
    """Return the fields of all marks of some kinds in a text, in order."""
    return [tuple(fields.split(" | ")) for kind, fields in MARK.findall(text) if kind in kinds]


def marked(text: str, kind: str) -> dict[str, str]:
    """Return the first field of all marks of a kind with the second; of equal ones the last."""
    return {first: second for first, second, *_ in marks(text, kind)}


def padded(parts: Iterable[str], tokens: int) -> str:
    """Write lines; fill up after the first, so that the text has so many tokens."""
    first, *rest = parts
    missing = tokens * CHARACTERS - sum(map(len, (first, *rest)))
    filler = FILLER * (missing // len(FILLER)) if missing > 0 else ""
    return "\n".join(filter(None, (first, filler.rstrip(), *rest)))
