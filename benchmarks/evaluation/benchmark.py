"""The definition of a benchmark: its tasks, their source, and its headline figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ...schema.host.catalogue import Catalogue, installed, load_named
from ...schema.host.conforming import PluginValue
from ...schema.team.task import Task
from ...schema.values.codec import OMITTED, SKIPPED, Form, from_value, stored
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from .exporting import Exporter
from .measures import Measure


def _resolved(path: Path | None) -> str | None:
    return str(path.resolve()) if path else None


def _path(value: Any) -> Path | None:
    path = from_value(str | None, value)
    return Path(path) if path else None


@stored(closed=True)
class Source:
    """The source of tasks, and the selection among them.

    Attributes:
        data: The user's folder with the benchmark's files, or the user's own file of tasks; None:
            the cache, where missing files are downloaded if the benchmark supports it.
        seed: For generated tasks: the seed.
        level: For generated tasks: the difficulty, from 1.
        count: For generated tasks: the number; None: the benchmark's default.
        scorer: For the user's own tasks: the scorer of tasks that name none.
        rubric: For the user's own tasks: the criteria of a good answer, for a judge.
        columns: For the user's own tasks: the fields by column, as in `--map`.
        catalogue: For the user's own tasks: the names that they may use; None: installed ones.
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
    """The main figure of a benchmark.

    Attributes:
        name: Its name, such as `accuracy`.
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
    """Do nothing: the tasks need no preparation."""
    del source, tasks


ACCURACY = Headline(name="accuracy", of=mean_score)


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark(PluginValue):
    """A benchmark, as declared in the entry-point group `coterie.benchmarks`.

    Its tasks are ordinary tasks: with a niche, a reference answer that no agent sees, and a scorer
    of the group `coterie.scorers` that gives the original verdict. Other measures of the scorer are
    averaged over the trials and reported beside the headline.

    Attributes:
        title: Its name in publications, with its version.
        about: Its questions, its scoring, and caveats for comparing figures.
        source: How to get its files, in words; empty without files.
        tasks: Returns all tasks in the original order, each with a unique id. Raises `InputError`
            if a file is missing, with the fix.
        trials: The number of trials per task in its protocol.
        tools: The tools or toolkits that its tasks are made for.
        measures: Its scorer's measures by name, in display order: the value of a trial without an
            answer, and the interval of the mean. Other measures have a mean over the trials that
            report them.
        prepare: Prepares the needs of some tasks, such as clones and environments, before anything
            is spent. Raises `InputError` if that fails.
        exports: The writers of answers in the formats of original evaluators, by format.
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
    """Return an installed benchmark.

    Raises:
        InputError: There is none of that name, or its package is broken.
    """
    names = installed("benchmarks")
    if name not in names:
        raise InputError(f"no benchmark {name!r}. Known: {', '.join(sorted(names))}.")
    result = load_named("benchmarks", name)
    if not isinstance(result, Benchmark) or result.name != name:
        raise InputError(
            f"the entry point {name!r} of coterie.benchmarks must be a Benchmark of that name, not"
            f" {quoted(result)}. Correct the package that declares it."
        )
    return result
