"""What an agent is reminded of: entries of a memory that somebody keeps elsewhere.

Who keeps one is found through the group `coterie.recall`: a function that takes a folder, the
models of the host, and the name of an embedder. An agent is reminded once: what it was reminded of
is in the run's journal, so to make the run again takes no memory, and another one cannot change it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ...schema.host.catalogue import installed, load_named
from ...schema.values.errors import InputError
from ...schema.values.values import unlike_default
from ..values.terminal import on_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ...schema.host.models import Model
    from ...schema.team.task import Task
    from ...schema.team.team import Agent, Recall, Team
    from ..plan.plan import Plan
    from ..record.once import Once

LONGEST_TASK = 300
"""Characters of an entry's task that are shown, as all that follow."""
LONGEST_TEXT = 2_000
LONGEST_QUERY = 4_000
"""Characters that are searched with of what an agent said, so that its task counts as well."""
SHORTEST = 200
"""Characters in which an entry can still be shown, cut."""
MORE = " […]"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryEntry:
    """Something that was learnt.

    Attributes:
        source: Where it comes from, in words.
        id: What it is called where it is kept.
        similarity: How like it is to what was searched with, in [-1, 1].
        credit: What it was worth to whoever found it out, where that is known.
        case: The id of the task that it comes from, where that is known.
        reward: The reward of the run that it comes from, where that is known.
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
        """Return an entry that is not too long to be shown, with what else is known of it."""
        return cls(
            source=on_one_line(source).replace('"', "'"),
            task=_clipped(on_one_line(task), LONGEST_TASK),
            text=_clipped(text.strip(), LONGEST_TEXT),
            **fields,
        )

    def within(self, room: int) -> MemoryEntry | None:
        """Return as much of the entry as so many characters hold; None where that says nothing."""
        left = room - len(self.source)
        if len(self.task) + len(self.text) <= left:
            return self
        if left < SHORTEST:
            return None
        task = _clipped(self.task, left // 3)
        return replace(self, task=task, text=_clipped(self.text, left - len(task)))

    @property
    def origin(self) -> Mapping[str, Any]:
        """Return what was found, for the trace."""
        names = ("id", "similarity", "credit", "case", "reward")
        return {name: item for name, item in unlike_default(self).items() if name in names}

    @property
    def characters(self) -> int:
        """How many characters are shown of it."""
        return len(self.source) + len(self.task) + len(self.text)


class Recaller(Protocol):
    """Finds what was learnt on tasks like one.

    It **must** give the same for the same, while nothing is added; and it is asked by several
    agents at once.
    """

    async def __call__(
        self, query: str, k: int, where: Mapping[str, Any], /
    ) -> Sequence[MemoryEntry]:
        """Find entries, the most similar first.

        Args:
            query: The text of the task, perhaps with what the agent said of it.
            k: How many entries at most; of `each` of the kinds, where that is asked for.
            where: Only those in the archive of an `owner`, of a `niche` or of none, and of some
                `kinds`, where these are named.

        Raises:
            CoterieError: The memory cannot be read, or its embedder failed.
        """
        ...


@runtime_checkable
class Remembering(Protocol):
    """A `Recaller` that knows which tasks something was learnt from."""

    def learnt_from(self, task: Task) -> str | None:
        """Return where it was learnt from a task, as by its id or its words; None where it was not.

        Raises:
            CoterieError: The memory cannot be read.
        """
        ...


async def nothing(_query: str, _k: int, _where: Mapping[str, Any], /) -> Sequence[MemoryEntry]:
    """Find nothing: a `Recaller` for where nothing was learnt."""
    return ()


def recalls(team: Team) -> bool:
    """Return whether some agent of a team is to be reminded of what was learnt."""
    return any(agent.recall is not None for agent in team.agents.values())


def open_recall(folder: Path, models: Mapping[str, Model], embedder: str | None) -> Recaller:
    """Open the memory of a pool.

    Raises:
        InputError: There is no pool, no such embedder, or nothing is installed that keeps pools.
    """
    if "pool" not in installed("recall"):
        raise InputError("nothing is installed that reads pools. Install coterie whole, anew.")
    return load_named("recall", "pool")(folder, models, embedder)


def unreminded(plan: Plan, recaller: Recaller | None) -> Iterator[str]:
    """Say that agents recall and there is no memory, or that there is one and none recalls.

    Without a memory, a team that recalls is one that has learnt nothing yet.
    """
    recalling = [name for name, planned in plan.agents.items() if planned.agent.recall is not None]
    if recalling and recaller is None:
        yield (
            f"{', '.join(recalling)}: reminded of nothing without a pool; mas-run --pool FOLDER"
            " gives one"
        )
    if not recalling and recaller is not None:
        yield f"no agent of {plan.team.name} has `recall`, so nobody reads what the pool has learnt"


def refuse_met(plan: Plan, task: Task, recaller: Recaller | None, place: str) -> None:
    """Make sure that nobody is reminded of what was learnt from the very task.

    Args:
        recaller: The memory, where there is one.

    Raises:
        InputError: Somebody would be; both places are named.
        CoterieError: The memory cannot be read.
    """
    if not recalls(plan.team) or not isinstance(recaller, Remembering):
        return
    if (before := recaller.learnt_from(task)) is not None:
        raise InputError(
            f"task {task.id!r} ({place}) is {before}: the pool has learnt from it, so what its"
            " agents recall is no help on an unseen task. Give another task, or leave recall out;"
            " what is another task needs another id."
        )


async def reminded(
    agent: Agent, task: Task, recaller: Recaller | None, once: Once, text: str = ""
) -> tuple[MemoryEntry, ...]:
    """Find what an agent is reminded of, once in a run.

    Args:
        recaller: The memory; without one it is reminded of nothing.
        text: What the agent said, where that is searched with. It comes before the task: some
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
    """Return the first entries that fit in an agent's room, the last of them cut, as it reads them.

    None takes the place of a closer one because it is shorter. An entry whose reward nobody knows
    counts as one of a run that failed.
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
    """Return which entries are asked for."""
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
