"""What a word that is unknown was probably meant to be."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from .problems import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Name the nearest known word as a sentence, or nothing where none is near."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.7)
    if not near:
        folded = {name.casefold(): name for name in names}
        near = [folded[word.casefold()]] if word.casefold() in folded else []
    return f" Did you mean {quoted(near[0])}?" if near else ""
