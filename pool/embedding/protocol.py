"""What an embedder is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]
"""A point on the unit sphere: the cosine of two texts is the sum of their products."""


class Embedder(Protocol):
    """Makes vectors of texts.

    An embedder **must** give one vector of unit length and of `dimension` numbers per text, in the
    order of the texts; **must** give a text the same vector whatever other texts come with it; and
    **must** take any text, the empty one too.
    """

    @property
    def name(self) -> str:
        """What tells its vectors from those of any other embedder: model and version."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Make a vector of each text.

        Raises:
            InputError: The embedder's model cannot be had on this machine.
            ModelError: Its endpoint gave no vectors.
        """
        ...


def unit(vector: Sequence[float]) -> Vector:
    """Scale a vector to unit length.

    Raises:
        ValueError: It has no direction: all its numbers are zero, or one is not finite.
    """
    length = math.hypot(*vector)
    if not length or not math.isfinite(length):
        raise ValueError(f"a vector of length {length}")
    return [value / length for value in vector]
