"""What a benchmark is: tasks, how to come by them, and what its figure is called and means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ...schema.host.catalogue import Catalogue, installed, load_named
from ...schema.host.conforming import PluginValue
from ...schema.team.task import Task
from ...schema.values.codec import OMITTED, SKIPPED, Form, from_value, kept
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from .exporting import Exporter
from .measures import Measure


def _resolved(path: Path | None) -> str | None:
    return str(path.resolve()) if path else None


def _path(value: Any) -> Path | None:
    path = from_value(str | None, value)
    return Path(path) if path else None


@kept(closed=True)
class Source:
    """Where tasks come from, and which of them.

    Attributes:
        data: The folder that the user names for the benchmark's files, or the file of tasks of
            one's own; None: the cache, where what is missing is fetched, if the benchmark can do
            so.
        seed: For tasks that are generated: which.
        level: For tasks that are generated: how hard, from 1.
        count: For tasks that are generated: how many; None: as many as the benchmark says.
        scorer: For tasks of one's own: scores those that name no scorer.
        rubric: For tasks of one's own: what makes an answer good, where a judge scores it.
        columns: For tasks of one's own: which column is which field, as `--map` has it.
        catalogue: For tasks of one's own: what they may name; None: what is installed.
    """

    data: Annotated[Path | None, Form(write=_resolved, read=_path)] = None
    seed: int = 0
    level: int = 1
    count: int | None = None
    scorer: Annotated[str, OMITTED] = ""
    rubric: Annotated[str, OMITTED] = ""
    columns: Annotated[str, OMITTED] = ""
    catalogue: Annotated[Catalogue | None, SKIPPED] = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline(PluginValue):
    """The figure that a benchmark is known by.

    Attributes:
        name: What it is called, such as `accuracy`.
        of: Computes it from the scores of the tasks of each niche, which are in [0, 1]. A task's
            score is the mean over its trials.
    """

    name: str
    of: Callable[[Mapping[str, Sequence[float]]], float]


def mean_score(niches: Mapping[str, Sequence[float]]) -> float:
    """Return the mean score over all tasks, whatever their niche (the micro average)."""
    scores = [score for nich in niches.values() for score in nich]
    return sum(scores) / len(scores) if scores else 0.0


def nothing_to_prepare(source: Source, tasks: Sequence[Task]) -> None:
    """Do nothing: the tasks can be run as they are."""
    del source, tasks


ACCURACY = Headline(name="accuracy", of=mean_score)


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark(PluginValue):
    """A benchmark, as the entry-point group `coterie.benchmarks` has it.

    Its tasks are tasks like any other: with a niche, a reference answer that no agent sees, and a
    scorer of the group `coterie.scorers` that gives the original verdict. What else the scorer
    measures is averaged over the trials and reported beside the headline.

    Attributes:
        title: What it is called in print, with its version.
        about: What it asks, how it is scored, and what to know before comparing figures.
        source: How to come by its files, in words; empty where there are none to be had.
        tasks: Gives all tasks in the original order, each with an id of its own. Raises
            `InputError` where a file is missing, with what to do about it.
        trials: How often its protocol runs each task.
        tools: The tools or toolkits that its tasks are made for.
        measures: What there is to know of its scorer's measures, by name, in the order in which
            they are shown: what one counts as for a trial that came to no answer, and whether its
            mean has an interval. One that is not named has a mean of those trials that have it.
        prepare: Makes ready what some of its tasks need, such as clones and environments, before
            anything is spent. Raises `InputError` where that cannot be had.
        exports: What writes answers in the formats of original evaluators, by format.
    """

    name: str
    title: str
    about: str
    licence: str
    citation: str
    source: str = ""
    tasks: Callable[[Source], Sequence[Task]]
    headline: Headline = ACCURACY
    trials: int = 3
    tools: tuple[str, ...] = ()
    measures: Mapping[str, Measure] = field(default_factory=dict[str, Measure])
    prepare: Callable[[Source, Sequence[Task]], None] = nothing_to_prepare
    exports: Mapping[str, Exporter] = field(default_factory=dict[str, "Exporter"])


def find_benchmark(name: str) -> Benchmark:
    """Find an installed benchmark.

    Raises:
        InputError: There is none of that name, or the package that gives it is broken.
    """
    names = installed("benchmarks")
    if name not in names:
        raise InputError(f"no benchmark is called {name!r}. Known: {', '.join(sorted(names))}.")
    result = load_named("benchmarks", name)
    if not isinstance(result, Benchmark) or result.name != name:
        raise InputError(
            f"the entry point {name!r} of coterie.benchmarks does not lead to a Benchmark of that"
            f" name, but to {quoted(result)}. Correct the package that declares it."
        )
    return result
