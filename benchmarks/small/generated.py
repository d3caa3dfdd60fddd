"""Benchmarks whose tasks are generated: seeded, in five levels, as many as are asked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...schema.errors import InputError
from ...schema.task import ScorerChoice, Task
from ..benchmark import Benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..benchmark import Source

__all__ = ["LEVELS", "NUMBER", "Item", "generated", "last_of"]

LEVELS = 5
COUNT = 200
PATIENCE = 1000
"""So many draws in a row that bring nothing new mean that there is nothing more."""

NUMBER = ScorerChoice(name="number")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One question.

    Attributes:
        kind: What kind of question it is within its benchmark; the task's niche.
        query: What is asked.
        answer: The right answer.
        scorer: Compares an answer with it.
    """

    kind: str
    query: str
    answer: Any
    scorer: ScorerChoice


Write = Callable[[random.Random, int], Item]
"""Draws an item of a level, from 1 to 5."""


def generated(name: str, title: str, about: str, write: Write) -> Benchmark:
    """Make a benchmark of what draws its items.

    Args:
        name: What commands call it.
        title: What it is called in print.
        about: What it asks and what its levels change.
        write: Draws an item of a level, from 1 to 5.
    """
    return Benchmark(
        name=name,
        title=title,
        about=f"{about} Generated: --level 1 to {LEVELS}, --seed and --count decide on the tasks.",
        licence="Apache-2.0, as this project",
        citation=f"coterie, generated stream {name!r}",
        tasks=lambda source: _tasks(name, write, source),
    )


def last_of(among: Sequence[str] | Literal["dates"]) -> ScorerChoice:
    """Ask that of some words, or of all dates, the right one is the last that an answer has."""
    return ScorerChoice(name="mention", options={"among": among})


def _tasks(name: str, write: Write, source: Source) -> list[Task]:
    """Give the first tasks of a seed and a level. A longer list begins with the shorter one."""
    if not 1 <= source.level <= LEVELS:
        raise InputError(f"{name} has the levels 1 to {LEVELS}, and none is {source.level!r}.")
    place = f"{name}-{source.level}-{source.seed}"
    count = COUNT if source.count is None else source.count
    return [
        Task(
            id=f"{place}-{number:04}",
            query=item.query,
            niche=item.kind,
            answer=item.answer,
            scorer=item.scorer,
        )
        for number, item in zip(range(count), _items(place, write, source.level), strict=False)
    ]


def _items(place: str, write: Write, level: int) -> Iterator[Item]:
    """Draw items without end or repetition."""
    chance = random.Random(place)  # noqa: S311 - the same tasks every time
    seen: set[str] = set()
    while True:
        for _ in range(PATIENCE):
            item = write(chance, level)
            if item.query not in seen:
                break
        else:
            raise InputError(f"{place} has no more than {len(seen)} tasks. Ask for fewer.")
        seen.add(item.query)
        yield item
