"""Memories that agents recall: entries of a memory that another package keeps.

A memory is found through the group `coterie.recall`: a function that takes a folder, the
models of the host, and the name of an embedder. An agent recalls once, and its memories are
in the run's journal. So resuming or replaying the run needs no memory, and another one cannot
change it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ...schema.host.catalogue import installed, load_named
from ...schema.values.errors import InputError
from ...schema.values.terminal import on_one_line
from ...schema.values.values import unlike_default

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ...schema.host.models import Model
    from ...schema.team.task import Task
    from ...schema.team.team import Agent, Recall
    from ..plan.plan import Plan
    from ..record.once import Once

LONGEST_TASK = 300
"""Characters of an entry's task that are shown."""
LONGEST_TEXT = 2_000
LONGEST_QUERY = 4_000
"""Characters of an agent's output that are part of the query, so that its task counts as well."""
SHORTEST = 200
"""The fewest characters in which a cut entry is shown."""
MORE = " […]"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryEntry:
    """An entry of a memory.

    Attributes:
        similarity: Its similarity to the query, in [-1, 1].
        credit: The credit of the agent that learnt it, if known.
        case: The id of the task that it was learnt from, if known.
        reward: The reward of the run that it was learnt from, if known.
    """

    source: str
    task: str
    text: str
    id: str = ""
    similarity: float | None = None
    credit: float | None = None
    case: str | None = None
    reward: float | None = None

    @classmethod
    def clipped(cls, *, source: str, task: str, text: str, **fields: Any) -> MemoryEntry:
        """Return the entry with its texts cut to the lengths that are shown."""
        return cls(
            source=on_one_line(source).replace('"', "'"),
            task=_clipped(on_one_line(task), LONGEST_TASK),
            text=_clipped(text.strip(), LONGEST_TEXT),
            **fields,
        )

    def within(self, room: int) -> MemoryEntry | None:
        """Return the entry cut to so many characters; None if too little would be left."""
        left = room - len(self.source)
        if len(self.task) + len(self.text) <= left:
            return self
        if left < SHORTEST:
            return None
        task = _clipped(self.task, left // 3)
        return replace(self, task=task, text=_clipped(self.text, left - len(task)))

    @property
    def origin(self) -> Mapping[str, Any]:
        """Return the entry's origin, for the trace."""
        names = ("id", "similarity", "credit", "case", "reward")
        return {name: item for name, item in unlike_default(self).items() if name in names}

    @property
    def characters(self) -> int:
        """The number of its characters that are shown."""
        return len(self.source) + len(self.task) + len(self.text)


class Recaller(Protocol):
    """Finds what was learnt on similar tasks.

    It **must** return the same entries for the same query while none is added, and several agents
    may call it at once.
    """

    async def __call__(
        self, query: str, k: int, where: Mapping[str, Any], /
    ) -> Sequence[MemoryEntry]:
        """Return entries, the most similar first.

        Args:
            query: The text of the task, perhaps with the agent's output.
            k: The most entries to return; per kind, if `each` is set.
            where: The entries to consider: in the archive of an `owner`, of a `niche` or of none,
                and of some `kinds`, if these are given.

        Raises:
            CoterieError: The memory cannot be read, or its embedder failed.
        """
        ...


@runtime_checkable
class Remembering(Protocol):
    """A `Recaller` that knows which tasks its entries were learnt from."""

    def learnt_from(self, task: Task) -> str | None:
        """Return where an entry was learnt from a task with this id or these words, or None.

        Raises:
            CoterieError: The memory cannot be read.
        """
        ...


async def nothing(_query: str, _k: int, _where: Mapping[str, Any], /) -> Sequence[MemoryEntry]:
    """Return no entries: a `Recaller` for an empty memory."""
    return ()


def open_recall(folder: Path, models: Mapping[str, Model], embedder: str | None) -> Recaller:
    """Open the memory of a pool.

    Raises:
        InputError: There is no pool, no such embedder, or no installed package that keeps pools.
    """
    if "pool" not in installed("recall"):
        raise InputError("the package that reads pools is missing. Reinstall coterie.")
    return load_named("recall", "pool")(folder, models, embedder)


def unreminded(plan: Plan, recaller: Recaller | None) -> Iterator[str]:
    """Return a warning if agents recall without a memory, or a memory is given and none recalls.

    Without a memory, a team that recalls has learnt nothing yet.
    """
    recalling = [name for name, planned in plan.agents.items() if planned.agent.recall is not None]
    if recalling and recaller is None:
        yield (
            f"{', '.join(recalling)}: no memory without a pool; add one with mas-run --pool FOLDER"
        )
    if not recalling and recaller is not None:
        yield f"no agent of {plan.team.name} has `recall`, so the pool's memory is not used"


def refuse_met(plan: Plan, task: Task, recaller: Recaller | None, place: str) -> None:
    """Refuse a memory that was learnt from the very task.

    Raises:
        InputError: It was; the message names both places.
        CoterieError: The memory cannot be read.
    """
    if not plan.team.recalls or not isinstance(recaller, Remembering):
        return
    if (before := recaller.learnt_from(task)) is not None:
        raise InputError(
            f"task {task.id!r} ({place}) is {before}: the pool has learnt from it, so this is not"
            " an unseen task. Use another task, or leave recall out; different tasks need"
            " different ids."
        )


async def reminded(
    agent: Agent, task: Task, recaller: Recaller | None, once: Once, text: str
) -> tuple[MemoryEntry, ...]:
    """Return the memories of an agent, which it recalls once in a run.

    Args:
        recaller: The memory; without one there are none.
        text: The agent's output, if it is part of the query. It comes before the task: some
            embedders read the first 256 tokens only, and a long task would take them all.
    """
    if (wanted := agent.recall) is None:
        return ()
    where = _where(agent, wanted, task)
    query = "\n\n".join(filter(None, (text[:LONGEST_QUERY], task.text)))

    async def work() -> Mapping[str, Any]:
        entries = await recaller(query, wanted.k, where) if recaller else ()
        return {"entries": [unlike_default(entry) for entry in entries]}

    fields = await once("recall", [query, wanted.k, where], work)
    return tuple(MemoryEntry(**entry) for entry in fields["entries"])


def fitting(entries: Iterable[MemoryEntry], recall: Recall) -> tuple[MemoryEntry, ...]:
    """Return the first entries that fit in an agent's room, the last of them cut.

    No entry takes the place of a closer one because it is shorter. An entry with an unknown reward
    counts as one of a failed run.
    """
    room = recall.room
    shown: list[MemoryEntry] = []
    for entry in entries:
        left = None if room is None else room - sum(item.characters for item in shown)
        fits = entry if left is None else entry.within(left)
        if fits is None:
            break
        shown.append(fits)
    if recall.first == "successful":
        shown.sort(key=lambda entry: -(entry.reward or 0.0))
    return tuple(shown)


def _where(agent: Agent, recall: Recall, task: Task) -> dict[str, Any]:
    """Return the filter for an agent's memories."""
    where: dict[str, Any] = {}
    if recall.of == "own":
        where["owner"] = agent.member or agent.id
    if recall.kinds:
        where["kinds"] = list(recall.kinds)
    if recall.niche and task.niche:
        where["niche"] = task.niche
    if recall.each:
        where["each"] = True
    return where


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(MORE)] + MORE
