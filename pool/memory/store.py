"""What finds the vectors that are closest to one.

A store is derived: the ledger fills it, and what is in it may be lost at any time.
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
"""Decimals of a similarity. Beyond them it depends on the order of additions in a store."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """What an entry has that searches may ask for.

    Attributes:
        kind: What sort of entry it is.
        niche: The kind of task; None: it has none.
        level: How far it reaches; None: it does not say.
        owners: Whose it is. There may be many.
    """

    kind: str | None = None
    niche: str | None = None
    level: str | None = None
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorQuery:
    """Which entries are searched for; None: whatever they have.

    Attributes:
        or_no_niche: Those of no niche, too, where those of a niche are wanted.
        owners: Those that any of these has.
    """

    kind: str | None = None
    niche: str | None = None
    or_no_niche: bool = False
    level: str | None = None
    owners: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorPoint:
    """What is stored of an entry.

    Attributes:
        key: A UUID that stands for the entry.
    """

    key: str
    vector: Vector
    labels: Labels


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A point that was found: its key, and the cosine of its vector with the one asked for."""

    key: str
    similarity: float


class Lost(RunError):
    """What was stored is gone, or did not fit and was removed: it is to be stored again."""


class Store(Protocol):
    """Finds the vectors that are closest to one.

    A store **must** find the truly closest, not roughly; **must** have what was added, once, when
    `add` returns; and **must** take the same point again without a change.
    """

    def add(self, points: Sequence[VectorPoint]) -> None:
        """Store points; all vectors have the same length.

        Raises:
            RunError: A server cannot be reached, or refuses.
            Lost: What was stored before is gone.
        """
        ...

    def closest(self, vector: Vector, query: VectorQuery) -> Iterator[Hit]:
        """Return the points that are wanted one by one, the closest first, to `DIGITS` decimals."""
        ...

    def missing(self, keys: Collection[str]) -> set[str]:
        """Return which of these keys are not stored."""
        ...


def open_store(
    pool_folder: Path, embedder: str, environment: Mapping[str, str] | None = None
) -> Store:
    """Open the store of a pool: on the Qdrant of `QDRANT_URL`, else in this process.

    Args:
        embedder: The name of the embedder, whose vectors do not compare with another's.
        environment: Has `QDRANT_URL`, `QDRANT_API_KEY` and `QDRANT_PREFIX`. Default: the process's
            environment.
    """
    environment = os.environ if environment is None else environment
    if url := environment.get("QDRANT_URL"):
        from .qdrant import QdrantStore, collection_of

        key = environment.get("QDRANT_API_KEY") or None
        prefix = environment.get("QDRANT_PREFIX") or "coterie"
        return QdrantStore.on_server(url, collection_of(pool_folder, embedder, prefix), key=key)
    from .shards import VectorShards

    return VectorShards()
