"""Vectors in this process, kept by what searches ask for: one shelf for each set of labels.

A search multiplies the shelves that it may look at with its vector, and nothing else: they lie in
memory as one piece each. A product in single precision only says which points to look at; what is
told of them is computed again in double precision, each alone. So a similarity depends on two
vectors, and not on what else is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .store import DIGITS, Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from .embedding import Vector
    from .store import Labels, Point

__all__ = ["Shelves"]

FIRST = 64
"""Points that are looked at first; more, and more again, where all of these are asked for."""
WIDENING = 8
EPSILON = 2.0**-24
"""What a product of unit vectors in single precision is wrong by at most, for each number."""
AT_ONCE = 4096
"""Points that are looked at in one go, which takes memory."""
ROOM = 16
"""Vectors that a shelf has room for at first; then twice as many, each time it is full."""


class _Shelf:
    """Vectors with the same labels."""

    def __init__(self, dimension: int) -> None:
        self.keys: list[str] = []
        self._room: NDArray[np.float32] = np.empty((ROOM, dimension), np.float32)

    @property
    def vectors(self) -> NDArray[np.float32]:
        return self._room[: len(self.keys)]

    def add(self, key: str, vector: Vector) -> None:
        if len(self.keys) == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[len(self.keys)] = vector
        self.keys.append(key)


class Shelves:
    """A store in this process's memory. It is empty at first, and gone with the process."""

    def __init__(self) -> None:
        self._shelves: dict[Labels, _Shelf] = {}
        self._keys: set[str] = set()
        self._fitting: dict[Labels, list[_Shelf]] = {}

    def add(self, points: Sequence[Point]) -> None:
        """Store points; those that are there stay."""
        for point in points:
            if point.labels not in self._shelves:
                self._shelves[point.labels] = _Shelf(len(point.vector))
                self._fitting.clear()
            if point.key not in self._keys:
                self._shelves[point.labels].add(point.key, point.vector)
                self._keys.add(point.key)

    def missing(self, keys: Collection[str]) -> set[str]:
        """Say which of these keys are not stored."""
        return set(keys) - self._keys

    def closest(self, vector: Vector, labels: Labels) -> Iterator[Hit]:
        """Give the points with these labels one by one, the closest first."""
        if labels not in self._fitting:
            fitting = [one for has, one in self._shelves.items() if _fits(has, labels)]
            self._fitting[labels] = fitting
        shelves = self._fitting[labels]
        if not shelves:
            return
        wanted = np.asarray(vector, np.float32)
        rough = np.concatenate([shelf.vectors @ wanted for shelf in shelves])
        given, limit = 0, FIRST
        while given < len(rough):
            hits = _first(shelves, rough, wanted, limit)
            yield from hits[given:]
            given, limit = len(hits), limit * WIDENING


def _fits(has: Labels, wanted: Labels) -> bool:
    return all(one is None or one == other for one, other in zip(wanted, has, strict=True))


def _first(
    shelves: Sequence[_Shelf], rough: NDArray[np.float32], wanted: NDArray[np.float32], limit: int
) -> list[Hit]:
    """Give the closest points in order, as far as looking at so many tells who they are."""
    bound = -np.inf
    places: NDArray[np.intp] = np.arange(len(rough))
    if limit < len(rough):
        places = np.argpartition(rough, -limit)[-limit:]
        bound = round(float(rough[places].min()) + EPSILON * len(wanted), DIGITS)
    hits = [hit for hit in _looked_at(shelves, np.sort(places), wanted) if hit.similarity > bound]
    return sorted(hits, key=lambda hit: -hit.similarity)


def _looked_at(
    shelves: Sequence[_Shelf], places: NDArray[Any], wanted: NDArray[np.float32]
) -> Iterator[Hit]:
    """Compute how close points are, which are counted from the first shelf on."""
    ends = np.cumsum([len(shelf.keys) for shelf in shelves])
    owners = np.searchsorted(ends, places, side="right")
    for owner in np.unique(owners).tolist():
        shelf = shelves[owner]
        here = places[owners == owner] - (ends[owner] - len(shelf.keys))
        for some in (here[at : at + AT_ONCE] for at in range(0, len(here), AT_ONCE)):
            products = shelf.vectors[some].astype(np.float64) * wanted
            cosines = np.round(products.sum(axis=1), DIGITS)
            pairs = zip(some.tolist(), cosines.tolist(), strict=True)
            yield from (Hit(key=shelf.keys[at], similarity=one) for at, one in pairs)
