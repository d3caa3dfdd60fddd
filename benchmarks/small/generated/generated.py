"""Benchmarks whose tasks are generated: seeded, in five levels, as many as are asked for."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ....schema.team.task import ScorerChoice, Task
from ....schema.values.errors import InputError
from ...evaluation.benchmark import ACCURACY, Benchmark, Headline, Source
from ...evaluation.measures import Measure

LEVELS = 5
COUNT = 200
PATIENCE = 1000
"""So many draws in a row that bring nothing new mean that there is nothing more."""

NUMBER = ScorerChoice(name="number")


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratedQuestion:
    """One question.

    Attributes:
        kind: What kind of question it is within its benchmark; the task's niche.
        briefs: What only one agent is told, by its id.
    """

    kind: str
    query: str
    answer: Any
    scorer: ScorerChoice
    context: str = ""
    briefs: Mapping[str, str] = field(default_factory=dict[str, str])


Write = Callable[[random.Random, int], GeneratedQuestion]
"""Draws an item of a level, from 1 to 5."""

Begin = Callable[[int, int], Write]
"""Gives what draws the items about the world of a seed and a level."""


def generated(name: str, title: str, about: str, write: Write) -> Benchmark:
    """Make a benchmark of what draws its items, each by itself.

    Args:
        title: What it is called in print.
        about: What it asks and what its levels change.
        write: Draws an item of a level, from 1 to 5.
    """
    return in_worlds(name, title, about, lambda _seed, _level: write)


def in_worlds(
    name: str,
    title: str,
    about: str,
    begin: Begin,
    *,
    headline: Headline = ACCURACY,
    measures: Mapping[str, Measure] | None = None,
) -> Benchmark:
    """Make a benchmark of which all items of one seed and level are about the same world.

    Args:
        title: What it is called in print.
        about: What it asks and what its levels change.
        begin: Gives what draws the items about the world of a seed and a level.
        measures: What is known of its scorer's measures.
    """
    return Benchmark(
        name=name,
        title=title,
        about=f"{about} Generated: --level 1 to {LEVELS}, --seed and --count decide on the tasks.",
        licence="Apache-2.0, as this project",
        citation=f"coterie, generated stream {name!r}",
        tasks=lambda source: _tasks(name, begin, source),
        headline=headline,
        measures=measures or {},
    )


def last_of(among: Sequence[str] | Literal["dates"]) -> ScorerChoice:
    """Ask that of some words, or of all dates, the right one is the last that an answer has."""
    return ScorerChoice(name="mention", options={"among": among})


def _tasks(name: str, begin: Begin, source: Source) -> list[Task]:
    """Return the first tasks of a seed and a level. A longer list begins with the shorter one."""
    if not 1 <= source.level <= LEVELS:
        raise InputError(f"{name} has the levels 1 to {LEVELS}, and none is {source.level!r}.")
    place = f"{name}-{source.level}-{source.seed}"
    count = COUNT if source.count is None else source.count
    write = begin(source.seed, source.level)
    return [
        Task(
            id=f"{place}-{number:04}",
            query=item.query,
            context=item.context,
            niche=item.kind,
            briefs=item.briefs,
            answer=item.answer,
            scorer=item.scorer,
        )
        for number, item in zip(range(count), _items(place, write, source.level), strict=False)
    ]


def _items(place: str, write: Write, level: int) -> Iterator[GeneratedQuestion]:
    """Draw items without end or repetition."""
    chance = random.Random(place)  # noqa: S311 - the same tasks every time
    drawn: set[tuple[str, str]] = set()
    while True:
        for _ in range(PATIENCE):
            item = write(chance, level)
            if (item.query, item.context) not in drawn:
                break
        else:
            raise InputError(f"{place} has no more than {len(drawn)} tasks. Ask for fewer.")
        drawn.add((item.query, item.context))
        yield item
