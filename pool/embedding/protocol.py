"""The interface of an embedder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]
"""A point on the unit sphere: the cosine of two texts is the dot product of their vectors."""


class Embedder(Protocol):
    """Converts texts to vectors.

    An embedder **must** return one vector of unit length and of `dimension` numbers per text, in
    the order of the texts; **must** return the same vector for a text whatever other texts come
    with it; and **must** accept any text, the empty one too.
    """

    @property
    def name(self) -> str:
        """A name that identifies its vectors: model and version."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text.

        Raises:
            InputError: The embedder's model is not available on this machine.
            ModelError: Its endpoint returned no vectors.
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
