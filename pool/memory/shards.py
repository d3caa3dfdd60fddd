"""A vector store in this process, with one shard for each set of labels.

A search multiplies only the shards that match its labels with its vector. Each shard is one array
in memory; for agents' own entries, which may be few among many, it knows the positions. The product
in single precision only selects candidates. Their similarity is computed again in double precision,
each alone. So a similarity depends on two vectors, and not on other stored ones.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .store import DIGITS, Hit, Labels, VectorQuery

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from ..embedding import Vector
    from .store import VectorPoint

    Places = slice | NDArray[np.intp]

FIRST = 64
"""The number of candidates at first; the number grows while more are wanted."""
WIDENING = 8
EPSILON = 2.0**-24
"""The maximum error of a single-precision product of unit vectors, per number."""
AT_ONCE = 4096
"""The number of points computed at once, which limits memory."""
ROOM = 16
"""The initial capacity of a shard, which doubles whenever it is full."""
FEW = 4
"""A shard that is `FEW` times larger than the owned points is not multiplied as a whole."""
WHOLE = slice(None)
NOWHERE = array("q")


class _Shard:
    """Vectors with the same labels except owners."""

    def __init__(self, dimension: int) -> None:
        self.keys: list[str] = []
        self._room: NDArray[np.float32] = np.empty((ROOM, dimension), np.float32)
        self._owned: dict[str, array[int]] = {}

    @property
    def vectors(self) -> NDArray[np.float32]:
        return self._room[: len(self.keys)]

    def add(self, key: str, vector: Vector, owners: Sequence[str]) -> None:
        if len(self.keys) == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        place = len(self.keys)
        self._room[place] = vector
        self.keys.append(key)
        for owner in owners:
            self._owned.setdefault(owner, array("q")).append(place)

    def places(self, owners: Sequence[str]) -> NDArray[np.intp]:
        """Return the positions of the points of any of these owners, each once."""
        owned = np.zeros(len(self.keys), np.bool_)
        for owner in owners:
            owned[self._owned.get(owner, NOWHERE)] = True
        return np.flatnonzero(owned)

    def products(self, query: NDArray[np.float32], places: Places) -> NDArray[np.float32]:
        if isinstance(places, slice) or len(places) * FEW > len(self.keys):
            return (self.vectors @ query)[places]
        return self.vectors[places] @ query


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The points of a shard that a search may return."""

    shard: _Shard
    places: Places

    def __len__(self) -> int:
        return len(self.shard.keys) if isinstance(self.places, slice) else len(self.places)

    def at(self, some: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of some of them in the shard."""
        return some if isinstance(self.places, slice) else self.places[some]


class VectorShards:
    """A store in this process's memory. It starts empty and ends with the process."""

    def __init__(self) -> None:
        self._shards: dict[Labels, _Shard] = {}
        self._keys: set[str] = set()
        self._fitting: dict[VectorQuery, list[_Shard]] = {}

    def add(self, points: Sequence[VectorPoint]) -> None:
        """Store points; existing ones stay unchanged."""
        for point in points:
            labels = replace(point.labels, owners=())
            if labels not in self._shards:
                self._shards[labels] = _Shard(len(point.vector))
                self._fitting.clear()
            if point.key not in self._keys:
                self._shards[labels].add(point.key, point.vector, point.labels.owners)
                self._keys.add(point.key)

    def missing(self, keys: Collection[str]) -> set[str]:
        """Return the keys without a stored point."""
        return set(keys) - self._keys

    def closest(self, vector: Vector, query: VectorQuery) -> Iterator[Hit]:
        """Yield matching points one by one, the closest first."""
        stretches = self._stretches(query)
        if not stretches:
            return
        target = np.asarray(vector, np.float32)
        rough = np.concatenate(
            [stretch.shard.products(target, stretch.places) for stretch in stretches]
        )
        yielded, limit = 0, FIRST
        while yielded < len(rough):
            hits = _first(stretches, rough, target, limit)
            yield from hits[yielded:]
            yielded, limit = len(hits), limit * WIDENING

    def _stretches(self, query: VectorQuery) -> list[_Stretch]:
        anybodys = replace(query, owners=None)
        if anybodys not in self._fitting:
            fitting = [shard for has, shard in self._shards.items() if _fits(has, anybodys)]
            self._fitting[anybodys] = fitting
        shards, owners = self._fitting[anybodys], query.owners
        if owners is None:
            return [_Stretch(shard, WHOLE) for shard in shards]
        owned = [_Stretch(shard, shard.places(owners)) for shard in shards]
        return [stretch for stretch in owned if len(stretch)]


def _fits(has: Labels, query: VectorQuery) -> bool:
    niches = (query.niche, None) if query.or_no_niche else (query.niche,)
    return (
        query.kind in (None, has.kind)
        and (query.niche is None or has.niche in niches)
        and query.level in (None, has.level)
    )


def _first(
    stretches: Sequence[_Stretch],
    rough: NDArray[np.float32],
    query: NDArray[np.float32],
    limit: int,
) -> list[Hit]:
    """Return the closest points in order, as far as `limit` candidates determine them."""
    bound = -np.inf
    places: NDArray[np.intp] = np.arange(len(rough))
    if limit < len(rough):
        places = np.argpartition(rough, -limit)[-limit:]
        bound = round(float(rough[places].min()) + EPSILON * len(query), DIGITS)
    hits = [hit for hit in _looked_at(stretches, np.sort(places), query) if hit.similarity > bound]
    return sorted(hits, key=lambda hit: -hit.similarity)


def _looked_at(
    stretches: Sequence[_Stretch], places: NDArray[np.intp], query: NDArray[np.float32]
) -> Iterator[Hit]:
    """Compute the similarity of points, which are numbered across stretches."""
    ends = np.cumsum([len(item) for item in stretches])
    found_in = np.searchsorted(ends, places, side="right")
    for number in np.unique(found_in).tolist():
        stretch = stretches[number]
        here = stretch.at(places[found_in == number] - (ends[number] - len(stretch)))
        for some in (here[at : at + AT_ONCE] for at in range(0, len(here), AT_ONCE)):
            products = stretch.shard.vectors[some].astype(np.float64) * query
            cosines = np.round(products.sum(axis=1), DIGITS)
            pairs = zip(some.tolist(), cosines.tolist(), strict=True)
            yield from (Hit(key=stretch.shard.keys[at], similarity=cosine) for at, cosine in pairs)
