"""Generated benchmarks: seeded, in five levels, with any number of tasks."""

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
"""The number of consecutive draws without a new item after which a stream is exhausted."""

NUMBER = ScorerChoice(name="number")


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratedQuestion:
    """One question.

    Attributes:
        kind: The kind of question within its benchmark; the task's niche.
        briefs: Private instructions of agents, by agent id.
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
"""Returns a generator of items in the world of a seed and a level."""


def generated(name: str, title: str, about: str, write: Write) -> Benchmark:
    """Return a benchmark of independent generated items; see `in_worlds`."""
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
    """Return a benchmark whose items of one seed and level share a world.

    Args:
        title: Its name in publications.
        about: Its questions, and how levels differ.
        begin: Returns a generator of items in the world of a seed and a level.
        measures: The declarations of its scorer's measures.
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
    """Return a scorer that compares the last of some words, or the last date, in an answer."""
    return ScorerChoice(name="mention", options={"among": among})


def _tasks(name: str, begin: Begin, source: Source) -> list[Task]:
    if not 1 <= source.level <= LEVELS:
        raise InputError(f"{name}: level {source.level!r} is out of range (1 to {LEVELS}).")
    place = f"{name}-{source.level}-{source.seed}"
    count = COUNT if source.count is None else source.count
    write = begin(source.seed, source.level)
    chance = random.Random(place)  # noqa: S311 - the same tasks every time
    return drawn_tasks(place, lambda: write(chance, source.level), count)


def drawn_tasks(place: str, draw: Callable[[], GeneratedQuestion], count: int) -> list[Task]:
    """Return the first tasks of a stream. A longer list begins with the shorter one.

    Args:
        place: The stream: its name and its settings, with which the tasks' ids begin.

    Raises:
        InputError: It has fewer.
    """
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
        for number, item in zip(range(count), _items(place, draw), strict=False)
    ]


def _items(place: str, draw: Callable[[], GeneratedQuestion]) -> Iterator[GeneratedQuestion]:
    drawn: set[tuple[str, str]] = set()
    while True:
        for _ in range(PATIENCE):
            item = draw()
            if (item.query, item.context) not in drawn:
                break
        else:
            raise InputError(f"{place} has only {len(drawn)} tasks. Request fewer.")
        drawn.add((item.query, item.context))
        yield item
