"""The experience memory of a pool: entries as text, found again by the likeness of their tasks.

`memory/experience.jsonl` is the truth. The index over it is made when the first search needs it,
and follows what any process appends; `memory/.cache/` keeps vectors and may be deleted.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from .embedding import CachedEmbedder, choose_embedder
from .experience import LONGEST_TASK
from .experience_file import ExperienceFile
from .store import Point, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..schema.models import Model
    from .embedding import Embedder, Vector
    from .experience import Experience
    from .store import Hit, Store

__all__ = ["Memory", "open_memory"]

FILE = "memory/experience.jsonl"
VECTORS = "memory/.cache/vectors.sqlite"
BATCH = 256
DIGITS = 6
"""Decimals of a similarity. Beyond them it depends on the order of additions in the store."""
WIDENING = 4


class Memory:
    """The memory of one pool. Threads may share it, and processes may share the pool.

    Args:
        pool_folder: The pool.
        embedder: Makes vectors of tasks.
        store: Searches them.
        report: Told of lines that cannot be read and the like. By default it is logged.
    """

    def __init__(
        self,
        pool_folder: Path,
        embedder: Embedder,
        store: Store,
        *,
        report: Callable[[str], None] | None = None,
    ) -> None:
        report = report or logging.getLogger(__name__).warning
        self._file = ExperienceFile(pool_folder / FILE, report=report)
        self._embedder = CachedEmbedder(embedder, pool_folder / VECTORS, report=report)
        self._store = store
        self._turn = threading.Lock()
        self._generation = self._file.generation
        self._indexed: dict[str, Experience] = {}

    def add(self, entry: Experience) -> bool:
        """Remember something; it is on disk when this returns. No vector is made yet.

        Returns:
            Whether it was added; False: an entry with this id was there, and stays.

        Raises:
            ValueError: A field is not as `experience.schema.json` has it.
            StorageError: The file cannot be read or written.
        """
        with self._turn:
            return self._file.add(entry)

    def entries(self) -> tuple[Experience, ...]:
        """Give all entries, in the order in which they were added.

        Raises:
            StorageError: The file cannot be read.
        """
        with self._turn:
            self._file.read()
            return tuple(self._file.entries.values())

    def search(
        self, text: str, k: int, *, niche: str | None = None, kind: str | None = None
    ) -> list[tuple[Experience, float]]:
        """Find the entries whose tasks are most like a text.

        Args:
            text: What to look for: a task's text. Its first `LONGEST_TASK` characters count, as of
                the entries' tasks.
            k: How many entries, at most.
            niche: Only those of a niche.
            kind: Only those of a kind.

        Returns:
            Entries with their cosine similarity, in [-1, 1], the highest first. Among equals the
            order is that of their ids, whoever added them first.

        Raises:
            StorageError: The file cannot be read.
            CoterieError: The embedder or the store failed; nothing is lost by it.
        """
        with self._turn:
            self._catch_up()
            if k < 1 or not self._indexed:
                return []
            [vector] = self._embedder.embed([text[:LONGEST_TASK]])
            return self._closest(vector, k, niche, kind)

    def _catch_up(self) -> None:
        """Index what was added since, by whomever."""
        self._file.read()
        if self._generation != self._file.generation:
            self._indexed.clear()
            self._generation = self._file.generation
        # Entries are only ever added at the end, so those that are indexed come first.
        waiting = list(self._file.entries.values())[len(self._indexed) :]
        for start in range(0, len(waiting), BATCH):
            self._index({entry.key: entry for entry in waiting[start : start + BATCH]})

    def _index(self, entries: Mapping[str, Experience]) -> None:
        missing = self._store.missing(entries.keys())
        wanted = {key: entry for key, entry in entries.items() if key in missing}
        vectors = self._embedder.embed([one.task[:LONGEST_TASK] for one in wanted.values()])
        self._store.add(
            [
                Point(key=key, vector=vector, kind=entry.kind, niche=entry.niche)
                for (key, entry), vector in zip(wanted.items(), vectors, strict=True)
            ]
        )
        self._indexed |= entries

    def _closest(
        self, vector: Vector, k: int, niche: str | None, kind: str | None
    ) -> list[tuple[Experience, float]]:
        """Ask for more and more, until nothing that was not seen can be as close as the last."""
        limit = k + 1
        while True:
            hits = self._store.search(vector, limit, niche=niche, kind=kind)
            ranked = self._ranked(hits)
            if len(hits) < limit or (len(ranked) > k and ranked[-1][1] < ranked[k - 1][1]):
                return ranked[:k]
            limit *= WIDENING

    def _ranked(self, hits: Sequence[Hit]) -> list[tuple[Experience, float]]:
        """Give the entries of hits; what a server has of an earlier state of the file is left."""
        known = [
            (self._indexed[hit.key], round(hit.similarity, DIGITS))
            for hit in hits
            if hit.key in self._indexed
        ]
        return sorted(known, key=lambda found: (-found[1], found[0].id))


def open_memory(
    pool_folder: Path,
    *,
    embedder: str | None = None,
    models: Mapping[str, Model] | None = None,
    environment: Mapping[str, str] | None = None,
    report: Callable[[str], None] | None = None,
) -> Memory:
    """Open the memory of a pool with what this host has.

    Args:
        pool_folder: The pool.
        embedder: The embedder's name; see `choose_embedder`.
        models: The models by alias.
        environment: Where keys and addresses are looked up. Default: the process's environment.
        report: Told what a person should know. By default it is logged.

    Raises:
        InputError: There is no such embedder, or `QDRANT_URL` is no usable address.
    """
    chosen = choose_embedder(embedder, models=models, environment=environment, report=report)
    store = open_store(pool_folder, chosen.name, environment)
    return Memory(pool_folder, chosen, store, report=report)
