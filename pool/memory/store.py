"""The interface of vector stores, which find the closest vectors.

A store is derived from the ledger, and its content may be lost at any time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...schema.values.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..embedding import Vector

DIGITS = 6
"""Decimals of a similarity. Further ones depend on the order of additions in a store."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """The labels of an entry for searches.

    Attributes:
        niche: The niche of its task; None: it has none.
        level: Its scope; None: it has none.
    """

    kind: str | None = None
    niche: str | None = None
    level: str | None = None
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorQuery:
    """The labels of entries to search for; None accepts any.

    Attributes:
        or_no_niche: Whether to include entries without a niche if `niche` is set.
        owners: Accept entries of any of these owners.
    """

    kind: str | None = None
    niche: str | None = None
    or_no_niche: bool = False
    level: str | None = None
    owners: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorPoint:
    """A stored entry.

    Attributes:
        key: A UUID that identifies the entry.
    """

    key: str
    vector: Vector
    labels: Labels


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A matching point: its key, and the cosine of its vector with the search vector."""

    key: str
    similarity: float


class Lost(RunError):
    """The stored points are gone, or did not fit and were removed; store them again."""


class Store(Protocol):
    """Finds the vectors that are closest to a vector.

    A store **must** find the exact closest ones, not approximate ones; **must** have all added
    points, each once, when `add` returns; and **must** accept the same point again without a
    change.
    """

    def add(self, points: Sequence[VectorPoint]) -> None:
        """Store points; all vectors have the same length.

        Raises:
            RunError: A server cannot be reached, or refuses.
            Lost: Earlier points are gone.
        """
        ...

    def closest(self, vector: Vector, query: VectorQuery) -> Iterator[Hit]:
        """Yield matching points one by one, the closest first, rounded to `DIGITS` decimals."""
        ...

    def missing(self, keys: Collection[str]) -> set[str]:
        """Return the keys without a stored point."""
        ...


def open_store(
    pool_folder: Path, embedder: str, environment: Mapping[str, str] | None = None
) -> Store:
    """Open the store of a pool: on the Qdrant server in `QDRANT_URL`, else in this process.

    Args:
        embedder: The embedder's name; vectors of different embedders are not comparable.
        environment: The source of `QDRANT_URL`, `QDRANT_API_KEY` and `QDRANT_PREFIX`. Default: the
            process's environment.
    """
    environment = os.environ if environment is None else environment
    if url := environment.get("QDRANT_URL"):
        from .qdrant import QdrantStore, collection_of

        key = environment.get("QDRANT_API_KEY") or None
        prefix = environment.get("QDRANT_PREFIX") or "coterie"
        return QdrantStore.on_server(url, collection_of(pool_folder, embedder, prefix), key=key)
    from .shards import VectorShards

    return VectorShards()
