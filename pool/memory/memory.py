"""The memory of a pool: lessons, found by the similarity of their tasks.

The ledger is the truth. The index is built at the first search and follows the changes of all
processes; `memory/.cache/` stores vectors and may be deleted.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from operator import mul

from ...schema.host.models import Model
from ..embedding import CachedEmbedder, Embedder, Vector, choose_embedder
from ..ledger.learnt import LONGEST_TASK, Learnt
from ..ledger.lessons import Lessons
from ..teams.pool import Pool
from ..values.layout import MEMORY
from .store import Labels, Lost, Store, VectorPoint, VectorQuery, open_store

VECTORS = f"{MEMORY}/.cache/vectors.sqlite"
BATCH = 8192
"""The number of entries indexed together, whose vectors are briefly in memory twice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Index:
    """Entries of a pool, by the similarity of some of their words."""

    words: Callable[[Learnt], str]
    store: Store
    embedder: Embedder
    entries: dict[str, Learnt] = field(default_factory=dict[str, "Learnt"])

    def vector(self, text: str) -> Vector:
        [vector] = self.embedder.embed([text[:LONGEST_TASK]])
        return vector

    def add(self, entries: Sequence[Learnt]) -> None:
        keyed = {entry.key: entry for entry in entries}
        missing = self.store.missing(keyed.keys())
        wanted = {key: entry for key, entry in keyed.items() if key in missing}
        texts = [self.words(learnt)[:LONGEST_TASK] for learnt in wanted.values()]
        points = [
            VectorPoint(key=key, vector=vector, labels=_labels(entry))
            for (key, entry), vector in zip(wanted.items(), self.embedder.embed(texts), strict=True)
        ]
        self.store.add(points)
        self.entries.update(keyed)

    def closest(
        self, text: str, query: VectorQuery, lessons: Lessons, owner: str | None, upto: int | None
    ) -> Iterator[tuple[Learnt, float]]:
        """Yield current entries, the closest first; a server may also have unknown ones."""
        if owner is not None:
            query = replace(query, owners=lessons.line(owner))
        for hit in self.store.closest(self.vector(text), query):
            entry = self.entries.get(hit.key)
            if entry is not None and lessons.stands(entry.id, upto, owner=owner):
                yield entry, hit.similarity


class Memory:
    """The memory of one pool. Threads may share it, and processes may share the pool.

    Args:
        report: Receives messages, for instance if vectors cannot be stored. Default: the log.
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
        self._tasks = _Index(words=lambda entry: entry.task, store=store, embedder=self._embedder)
        self._turn = threading.Lock()
        self._read: dict[str, int] = {}

    @property
    def embedder(self) -> str:
        """The embedder's name; vectors of different embedders are not comparable."""
        return self._embedder.name

    def search(
        self,
        text: str,
        k: int,
        *,
        niche: str | None = None,
        or_no_niche: bool = False,
        kind: str | None = None,
        owner: str | None = None,
        level: str | None = None,
        upto: int | None = None,
    ) -> list[tuple[Learnt, float]]:
        """Return the entries whose tasks are most similar to a text, without replaced ones.

        Args:
            text: A task's text. Only the first `LONGEST_TASK` characters of texts count.
            or_no_niche: Whether to include entries without a niche if `niche` is set.
            owner: Search only the memory of an agent: its own and inherited entries.
            upto: Search only the first `upto` entries, as if there were no others.

        Returns:
            Entries with their cosine similarity, in [-1, 1], the highest first. Equals are ordered
            by id, whoever learnt them first.
        """
        wanted = VectorQuery(kind=kind, niche=niche, or_no_niche=or_no_niche, level=level)
        with self._turn:
            try:
                pairs = self._closest(text, k, wanted, owner, upto)
            except Lost:  # a server that was emptied: all of it is in the ledger
                self._tasks.entries.clear()
                pairs = self._closest(text, k, wanted, owner, upto)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0].id))[:k]

    def alike(
        self,
        text: str,
        owner: str,
        *,
        kind: str | None = None,
        niche: str | None = None,
        over: float,
        upto: int | None = None,
    ) -> list[tuple[Learnt, float]]:
        """Return the entries of an agent's memory with nearly the same text.

        Args:
            text: The text of a possible entry. Only the first `LONGEST_TASK` characters of texts
                count.
            over: The minimum cosine similarity, exclusive.
            upto: As in `search`.

        Returns:
            Entries with their similarity, ordered as in `search`.
        """
        with self._turn:
            self._pool.refresh()
            self._read_archive(owner)
            if not self._texts.entries:
                return []
            wanted = VectorQuery(kind=kind, niche=niche)
            closest = self._texts.closest(text, wanted, self._pool.learnt, owner, upto)
            pairs = [*takewhile(lambda pair: pair[1] > over, closest)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0].id))

    def likeness(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the similarity of a text to others: the cosines, in [-1, 1], in their order."""
        with self._turn:
            cut = [name[:LONGEST_TASK] for name in (text, *others)]
            first, *vectors = self._embedder.embed(cut) if others else [()]
        return [math.fsum(map(mul, first, vector)) for vector in vectors]

    def _closest(
        self, text: str, k: int, query: VectorQuery, owner: str | None, upto: int | None
    ) -> list[tuple[Learnt, float]]:
        """Return at least `k` entries, the closest first, with all equals of the last one."""
        self._catch_up()
        pairs: list[tuple[Learnt, float]] = []
        if k < 1 or not self._tasks.entries or upto == 0:
            return pairs
        for entry, similarity in self._tasks.closest(text, query, self._pool.learnt, owner, upto):
            if len(pairs) >= k and similarity < pairs[k - 1][1]:
                break
            pairs.append((entry, similarity))
        return pairs

    @cached_property
    def _texts(self) -> _Index:
        """The index of entries' texts, for owners searched so far."""
        from .shards import VectorShards

        return _Index(words=lambda entry: entry.text, store=VectorShards(), embedder=self._embedder)

    def _catch_up(self) -> None:
        """Index the entries learnt since then, by any process."""
        self._pool.refresh()
        waiting = self._pool.learnt.between(len(self._tasks.entries))
        for start in range(0, len(waiting), BATCH):
            self._tasks.add(waiting[start : start + BATCH])

    def _read_archive(self, owner: str) -> None:
        """Index the texts of all entries that an agent may have in its memory."""
        learnt = self._pool.learnt
        for name in learnt.line(owner):
            waiting = learnt.own(name, self._read.get(name, 0))
            for start in range(0, len(waiting), BATCH):
                some = waiting[start : start + BATCH]
                self._texts.add(some)
                self._read[name] = self._read.get(name, 0) + len(some)


def _labels(entry: Learnt) -> Labels:
    return Labels(kind=entry.kind, niche=entry.niche, level=entry.level, owners=entry.owners)


def open_memory(
    pool: Pool,
    *,
    embedder: str | None = None,
    models: Mapping[str, Model] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Memory:
    """Open the memory of a pool with this host's models.

    Args:
        embedder: The embedder's name; see `choose_embedder`.
        environment: The source of keys and addresses. Default: the process's environment.
    """
    chosen = choose_embedder(embedder, models=models, environment=environment)
    store = open_store(pool.folder, chosen.name, environment)
    return Memory(pool, chosen, store)
