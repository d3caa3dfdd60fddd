"""Vectors without a model: they encode the words and letters of a text, not its meaning."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .protocol import Vector, unit

DIMENSION = 1024
LETTERS = 4
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Counts words, pairs of words and runs of letters, each at the index that its hash gives.

    It needs no package and no file. Texts are similar if they share words; a paraphrase is as far
    away as any other text. So it finds tasks of one template, and few others.
    """

    name = "hashing-1024-v1"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text. Never fails."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    vector = [0.0] * DIMENSION
    for feature, count in Counter(_features(text)).items():
        digest = zlib.crc32(feature.encode("utf-8", "replace"))
        # The sign makes features that fall on the same place cancel out on average.
        vector[digest % DIMENSION] += count**0.5 if digest >> 31 else -(count**0.5)
    return unit(vector) if any(vector) else [1.0, *vector[1:]]


def _features(text: str) -> Iterator[str]:
    words = _WORD.findall(text.lower())
    yield from words
    yield from (f"{first} {second}" for first, second in pairwise(words))
    for word in words:
        padded = f"<{word}>"
        yield from (padded[i : i + LETTERS] for i in range(len(padded) - LETTERS + 1))
