"""Cleans texts of models, tools and files for team files and the ledger."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ...schema.values.codec import Form
from ...schema.values.secrets import scrubbed
from ...schema.values.terminal import speakable

LONGEST_REASON = 4_000
"""Maximum characters, as in the following constants."""
LONGEST_NOTE = 500
MOST_NOTES = 100

_NO_CHARACTERS = dict.fromkeys(map(ord, "\ufffe\uffff"))


def displayable(text: str, most: int = LONGEST_NOTE) -> str:
    """Return a text that is safe to read: nothing invisible, no secret keys, limited length."""
    clean = speakable(text).translate(_NO_CHARACTERS).strip()
    return scrubbed(clean if len(clean) <= most else f"{clean[:most]} …")


def told_all(texts: Iterable[str], most: int = MOST_NOTES) -> tuple[str, ...]:
    """Return short displayable texts, with the number of those left out."""
    clean = [words for text in texts if (words := displayable(text, LONGEST_NOTE))]
    more = (f"and {len(clean) - most} more",) if len(clean) > most else ()
    return (*clean[:most], *more)


TEXT = Form(write=displayable)
"""The form of a short text."""
REASON = Form(write=functools.partial(displayable, most=LONGEST_REASON))
"""The form of a reason."""
