"""Connects a pool's memory to the agents of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...runtime.messages.recall import MemoryEntry, Recaller, nothing
from ...schema.host.models import Model
from ...schema.team.task import Task
from ..ledger.learnt import Learnt
from ..teams.pool import Pool
from .learnt_tasks import LearntTasks
from .memory import open_memory

Matches = list[tuple["Learnt", float]]
"""The result of `Memory.search`."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """The memory of a pool, with the tasks that it was learnt from."""

    folder: Path
    recall: Recaller

    async def __call__(
        self, query: str, k: int, where: Mapping[str, Any], /
    ) -> Sequence[MemoryEntry]:
        """Return entries; see `Recaller`."""
        return await self.recall(query, k, where)

    def learnt_from(self, task: Task) -> str | None:
        """Return the place where a task was learnt from; see `Remembering`."""
        meeting = next(LearntTasks.by(self.folder).meetings([task]), None)
        return f"{meeting.before} by its {meeting.by}" if meeting else None


def open_recall(folder: Path, models: Mapping[str, Model], embedder: str | None = None) -> Recaller:
    """Open a pool for agents to recall from. A pool without lessons needs no embedder.

    Raises:
        InputError: There is no pool, or no such embedder.
        StorageError: The pool is damaged.
    """
    pool = Pool.open(folder)
    if not pool.learnt:
        return nothing
    memory = open_memory(pool, embedder=embedder, models=models)
    return Recollection(folder, recalling(memory.search))


def recalling(search: Callable[..., Matches]) -> Recaller:
    """Make a search, of a `Memory` or a `PoolView`, available to agents."""

    async def recall(query: str, k: int, where: Mapping[str, Any], /) -> Sequence[MemoryEntry]:
        return await asyncio.to_thread(_search_kinds, search, query, k, where)

    return recall


def _search_kinds(
    search: Callable[..., Matches], query: str, k: int, where: Mapping[str, Any]
) -> Sequence[MemoryEntry]:
    """Search each kind, and return the closest of all; with `each`, all results."""
    kinds: Sequence[str | None] = where.get("kinds") or (None,)
    labels = {name: where[name] for name in ("owner", "niche") if name in where}
    if "niche" in labels:
        labels["or_no_niche"] = True  # general lessons apply in every niche
    hits = [hit for kind in kinds for hit in search(query, k, kind=kind, **labels)]
    hits.sort(key=lambda hit: (-hit[1], hit[0].id))
    most = len(hits) if where.get("each") else k
    return [_entry(entry, similarity) for entry, similarity in hits[:most]]


def _entry(entry: Learnt, similarity: float) -> MemoryEntry:
    texts = [entry.kind, entry.niche or "", f"of {entry.owner}" if entry.owner else ""]
    texts += [f"from {entry.giver}" if entry.giver else "", entry.id]
    return MemoryEntry.clipped(
        source=", ".join(filter(None, texts)),
        task=entry.task,
        text=entry.text,
        id=entry.id,
        similarity=similarity,
        credit=entry.credit,
        case=entry.case,
        reward=entry.reward,
    )
