"""The memory of a pool: what was learnt, found again by the likeness of the tasks.

The ledger is the truth. The index over it is made when the first search needs it, and follows what
any process adds; `memory/.cache/` keeps vectors and may be deleted.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .embedding import CachedEmbedder, choose_embedder
from .learnt import LONGEST_TASK
from .store import Point, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..schema.models import Model
    from .embedding import Embedder, Vector
    from .learnt import Learnt
    from .pool import Pool
    from .store import Labels, Store

__all__ = ["Memory", "open_memory"]

VECTORS = "memory/.cache/vectors.sqlite"
BATCH = 8192
"""Entries that are indexed together: their vectors are in memory twice meanwhile."""


class Memory:
    """The memory of one pool. Threads may share it, and processes may share the pool.

    Args:
        pool: Has what was learnt.
        embedder: Makes vectors of tasks.
        store: Searches them.
        report: Told why vectors are not kept and the like. By default it is logged.
    """

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder,
        store: Store,
        *,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._pool = pool
        self._embedder = CachedEmbedder(embedder, pool.folder / VECTORS, report=report)
        self._store = store
        self._turn = threading.Lock()
        self._indexed: dict[str, Learnt] = {}

    @property
    def embedder(self) -> str:
        """The name of the embedder, whose vectors do not compare with another's."""
        return self._embedder.name

    def search(
        self,
        text: str,
        k: int,
        *,
        niche: str | None = None,
        kind: str | None = None,
        owner: str | None = None,
        level: str | None = None,
        seen: int | None = None,
    ) -> list[tuple[Learnt, float]]:
        """Find the entries whose tasks are most like a text, without those that were replaced.

        Args:
            text: What to look for: a task's text. Its first `LONGEST_TASK` characters count, as of
                the entries' tasks.
            k: How many entries, at most.
            niche: Only those of a niche.
            kind: Only those of a kind.
            owner: Only those of an agent.
            level: Only those of a level.
            seen: Only among so many that were learnt first, as if no more had been.

        Returns:
            Entries with their cosine similarity, in [-1, 1], the highest first. Among equals the
            order is that of their ids, whoever learnt them first.

        Raises:
            StorageError: The ledger cannot be read.
            CoterieError: The embedder or the store failed; nothing is lost by it.
        """
        with self._turn:
            self._catch_up()
            if k < 1 or not self._indexed or seen == 0:
                return []
            [vector] = self._embedder.embed([text[:LONGEST_TASK]])
            found: list[tuple[Learnt, float]] = []
            for entry, similarity in self._closest(vector, (kind, niche, owner, level), seen):
                if len(found) >= k and similarity < found[k - 1][1]:
                    break
                found.append((entry, similarity))
        return sorted(found, key=lambda one: (-one[1], one[0].id))[:k]

    def _closest(
        self, vector: Vector, labels: Labels, seen: int | None
    ) -> Iterator[tuple[Learnt, float]]:
        """Give what stands, the closest first; a server may also have what we know nothing of."""
        for hit in self._store.closest(vector, labels):
            entry = self._indexed.get(hit.key)
            if entry is not None and self._pool.learnt.stands(entry.id, seen):
                yield entry, hit.similarity

    def _catch_up(self) -> None:
        """Index what was learnt since, by whomever."""
        self._pool.refresh()
        waiting = self._pool.learnt.between(len(self._indexed))
        for start in range(0, len(waiting), BATCH):
            self._index(waiting[start : start + BATCH])

    def _index(self, entries: Sequence[Learnt]) -> None:
        keyed = {entry.key: entry for entry in entries}
        missing = self._store.missing(keyed.keys())
        wanted = {key: entry for key, entry in keyed.items() if key in missing}
        vectors = self._embedder.embed([one.task[:LONGEST_TASK] for one in wanted.values()])
        self._store.add(
            [
                Point(key=key, vector=vector, labels=_labels(entry))
                for (key, entry), vector in zip(wanted.items(), vectors, strict=True)
            ]
        )
        self._indexed |= keyed


def _labels(entry: Learnt) -> Labels:
    return (entry.kind, entry.niche, entry.owner, entry.level)


def open_memory(
    pool: Pool,
    *,
    embedder: str | None = None,
    models: Mapping[str, Model] | None = None,
    environment: Mapping[str, str] | None = None,
    report: Callable[[str], None] | None = None,
) -> Memory:
    """Open the memory of a pool with what this host has.

    Args:
        pool: The pool.
        embedder: The embedder's name; see `choose_embedder`.
        models: The models by alias.
        environment: Where keys and addresses are looked up. Default: the process's environment.
        report: Told what a person should know. By default it is logged.

    Raises:
        InputError: There is no such embedder, or `QDRANT_URL` is no usable address.
    """
    chosen = choose_embedder(embedder, models=models, environment=environment, report=report)
    store = open_store(pool.folder, chosen.name, environment)
    return Memory(pool, chosen, store, report=report)
