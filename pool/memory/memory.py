"""The memory of a pool: what was learnt, found again by the likeness of the tasks.

The ledger is the truth. The index over it is made when the first search needs it, and follows what
any process adds; `memory/.cache/` keeps vectors and may be deleted.
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
"""Entries that are indexed together: their vectors are in memory twice meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Index:
    """Entries of a pool by the likeness of some of their words."""

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
        """Yield what stands, the closest first; a server may also have what we know nothing of."""
        if owner is not None:
            query = replace(query, owners=lessons.line(owner))
        for hit in self.store.closest(self.vector(text), query):
            entry = self.entries.get(hit.key)
            if entry is not None and lessons.stands(entry.id, upto, owner=owner):
                yield entry, hit.similarity


class Memory:
    """The memory of one pool. Threads may share it, and processes may share the pool.

    Args:
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
        self._tasks = _Index(words=lambda entry: entry.task, store=store, embedder=self._embedder)
        self._turn = threading.Lock()
        self._read: dict[str, int] = {}

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
        or_no_niche: bool = False,
        kind: str | None = None,
        owner: str | None = None,
        level: str | None = None,
        upto: int | None = None,
    ) -> list[tuple[Learnt, float]]:
        """Find the entries whose tasks are most like a text, without those that were replaced.

        Args:
            text: What to look for: a task's text. Its first `LONGEST_TASK` characters count, as of
                the entries' tasks.
            or_no_niche: Those of no niche, too, where only those of a niche are wanted.
            owner: Only those in the archive of an agent: its own, and what it has inherited.
            upto: Only among so many that were learnt first, as if no more had been.

        Returns:
            Entries with their cosine similarity, in [-1, 1], the highest first. Among equals the
            order is that of their ids, whoever learnt them first.
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
        """Find the entries of an agent's archive that say nearly the same as a text.

        Args:
            text: What an entry may say. Its first `LONGEST_TASK` characters count, as of theirs.
            over: Only those whose texts have a higher cosine similarity with it than this.
            upto: As for `search`.

        Returns:
            Entries with the similarity, in order as for `search`.
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
        """Return how like a text others are: the cosines, in [-1, 1], in their order."""
        with self._turn:
            cut = [name[:LONGEST_TASK] for name in (text, *others)]
            first, *vectors = self._embedder.embed(cut) if others else [()]
        return [math.fsum(map(mul, first, vector)) for vector in vectors]

    def _closest(
        self, text: str, k: int, query: VectorQuery, owner: str | None, upto: int | None
    ) -> list[tuple[Learnt, float]]:
        """Return at least as many entries as are wanted, the closest first, and all equals."""
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
        """What is said, of those whose archives were asked for."""
        from .shards import VectorShards

        return _Index(words=lambda entry: entry.text, store=VectorShards(), embedder=self._embedder)

    def _catch_up(self) -> None:
        """Index what was learnt since, by whomever."""
        self._pool.refresh()
        waiting = self._pool.learnt.between(len(self._tasks.entries))
        for start in range(0, len(waiting), BATCH):
            self._tasks.add(waiting[start : start + BATCH])

    def _read_archive(self, owner: str) -> None:
        """Index what is said by all that an agent may have in its archive."""
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
    report: Callable[[str], None] | None = None,
) -> Memory:
    """Open the memory of a pool with what this host has.

    Args:
        embedder: The embedder's name; see `choose_embedder`.
        environment: Where keys and addresses are looked up. Default: the process's environment.
        report: Told what a person should know. By default it is logged.
    """
    chosen = choose_embedder(embedder, models=models, environment=environment, report=report)
    store = open_store(pool.folder, chosen.name, environment)
    return Memory(pool, chosen, store, report=report)
