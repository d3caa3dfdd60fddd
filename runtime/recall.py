"""What an agent is reminded of with its task: entries of a memory that somebody keeps elsewhere.

Who keeps one is found through the group `coterie.recall`: a function that takes a folder, the
models of the host, and the name of an embedder. An agent is reminded once: what it was reminded of
is in the run's journal, so to make the run again takes no memory, and another one cannot change it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..schema.catalogue import installed, load_named
from ..schema.errors import InputError
from .terminal import on_one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..schema.models import Model
    from ..schema.task import Task
    from ..schema.team import Agent, Team
    from .once import Once
    from .plan import Plan

__all__ = [
    "Entry",
    "Recaller",
    "nothing",
    "open_recall",
    "recalls",
    "refuse_forgetful",
    "reminded",
]

LONGEST_TASK = 300
"""Characters of an entry's task that are shown, as all that follow."""
LONGEST_TEXT = 2_000
MORE = " […]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Something that was learnt.

    Attributes:
        source: Where it comes from, in words.
        task: The task on which it was learnt.
        text: What was learnt.
    """

    source: str
    task: str
    text: str

    @classmethod
    def clipped(cls, *, source: str, task: str, text: str) -> Entry:
        """Give an entry that is not too long to be shown."""
        return cls(
            source=on_one_line(source).replace('"', "'"),
            task=_clipped(on_one_line(task), LONGEST_TASK),
            text=_clipped(text.strip(), LONGEST_TEXT),
        )


class Recaller(Protocol):
    """Finds what was learnt on tasks like one.

    It **must** give the same for the same, while nothing is added; and it is asked by several
    agents at once.
    """

    async def __call__(self, query: str, k: int, where: Mapping[str, Any], /) -> Sequence[Entry]:
        """Find entries, the most similar first.

        Args:
            query: The text of the task.
            k: How many entries at most.
            where: Only those of an `owner`, and of some `kinds`, where these are named.

        Raises:
            CoterieError: The memory cannot be read, or its embedder failed.
        """
        ...


async def nothing(_query: str, _k: int, _where: Mapping[str, Any], /) -> Sequence[Entry]:
    """Find nothing: a `Recaller` for where nothing was learnt."""
    return ()


def recalls(team: Team) -> bool:
    """Tell whether some agent of a team is to be reminded of what was learnt."""
    return any(agent.recall is not None for agent in team.agents.values())


def open_recall(folder: Path, models: Mapping[str, Model], embedder: str | None) -> Recaller:
    """Open the memory of a pool.

    Raises:
        InputError: There is no pool, no such embedder, or nothing is installed that keeps pools.
    """
    if "pool" not in installed("recall"):
        raise InputError("nothing is installed that reads pools. Install coterie whole, anew.")
    return load_named("recall", "pool")(folder, models, embedder)


def refuse_forgetful(plan: Plan, recaller: Recaller | None) -> None:
    """Make sure that agents who are to be reminded of something can be.

    Raises:
        InputError: There is no memory.
    """
    wanting = [one for one, planned in plan.agents.items() if planned.agent.recall is not None]
    if wanting and recaller is None:
        raise InputError(
            f"{', '.join(wanting)}: recall needs a pool to recall from, and there is none. Use"
            " mas-run --pool FOLDER, mas-evolve, or mas-bench run --recipe; or leave out recall."
        )


async def reminded(
    agent: Agent, task: Task, recaller: Recaller | None, once: Once
) -> tuple[Entry, ...]:
    """Find what an agent is reminded of, once in a run.

    Raises:
        CoterieError: As for `Recaller` and for `Once`; or a run is gone on with that has no memory.
    """
    if (wanted := agent.recall) is None:
        return ()
    where: dict[str, Any] = {}
    if wanted.of == "own":
        where["owner"] = agent.member or agent.id
    if wanted.kinds:
        where["kinds"] = list(wanted.kinds)

    async def work() -> Mapping[str, Any]:
        if recaller is None:
            raise InputError(f"{agent.id}: recall needs a pool to recall from. Give --pool FOLDER.")
        return {"entries": [asdict(one) for one in await recaller(task.text, wanted.k, where)]}

    came = await once("recall", [task.text, wanted.k, where], work)
    return tuple(Entry(**one) for one in came["entries"])


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(MORE)] + MORE
