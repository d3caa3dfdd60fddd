"""One trial of a study: a strategy learns from a stream in a world, and is tested on another."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any, Self

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.report.heldout import HeldOut, Learned
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.budget import Budget
from coterie.runtime.values.caps import Caps
from coterie.schema.loading.recipe import Recipe
from coterie.schema.values.errors import LimitError

from ..simulated import in_memory, memory_of, services_of, stage_of
from .gateway import CEILING, META, Simulated, catalogue
from .tasks import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from coterie.operators.evolution.context import EvolutionContext
    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.loading.ceiling import CapabilityPolicy

    from .gateway import Asked
    from .worlds import World

DRAWN, LEVEL = "drawn", "level"
NAME = "trial"
"""Of the evolution in its pool."""
LAST = 4
"""The last quarter of a stream."""
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A way to work on a stream.

    Attributes:
        name: What the tables call it.
        settings: What differs from the study's settings.
        recipe: What differs in the rest of the recipe.
        strategy: Another strategy than the study's.
        changes: Numbers of the world that differ.
        paper: What the paper has as its difference from the first row, and where.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    recipe: Mapping[str, Any] = field(default_factory=dict[str, Any])
    strategy: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    paper: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What a trial leaves, for who measures more of it.

    Attributes:
        world: Where.
        context: What the evolution had: its pool, its recipe.
        lines: What it says of each task.
        gateway: Who answered.
    """

    world: World
    context: EvolutionContext
    lines: Sequence[Mapping[str, Any]]
    gateway: Simulated


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """A study: what is compared in which worlds.

    Attributes:
        name: The module in `studies` whose `STUDY` it is.
        strategy: The strategy.
        settings: What differs from its defaults in all rows.
        rows: What is compared; others are compared with the first.
        worlds: Makes a world of a kind, by the kind, the seed and the row.
        kinds: The kinds of worlds, each with what the tables call it.
        teams: Writes the pool's first teams into a folder, and returns their paths.
        operators: Who answers which operator.
        agents: Answers in the place of agents; None: `gateway.solved`.
        figures: What else is measured, from what a trial leaves.
        level: Which part of the tasks a level world has: there, nothing is learnt.
        calls: After how many model calls a trial stops, so that rows differ in tasks and not in
            calls; 0: it works on all tasks.
        ceiling: What teams may ask for.
        models: Aliases of further models.
    """

    name: str
    strategy: str
    rows: Sequence[Row]
    worlds: Callable[[str, int, str], World]
    teams: Callable[[World, Path], Sequence[Path]]
    operators: Mapping[str, Callable[[Asked], Mapping[str, Any]]]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kinds: Mapping[str, str] = field(
        default_factory=lambda: {
            DRAWN: "Drawn worlds",
            LEVEL: "Level worlds: nothing is worth anything",
        }
    )
    agents: Callable[[World, ChatRequest], str] | None = None
    figures: Callable[[Trial], Mapping[str, Any]] = lambda _: NOTHING
    level: int = 4
    calls: int = 0
    ceiling: CapabilityPolicy = CEILING
    models: tuple[str, ...] = ()

    def row(self, name: str) -> Row:
        """Return a row by its name."""
        return next(parts for parts in self.rows if parts.name == name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A row on a stream.

    Attributes:
        study: The study's name.
        world: The kind of world.
        row: The row's name.
        seed: Which world, and which stream.
        tasks: How many tasks it learns from.
        test: How many others it is tested on.
        tokens: Of an answer, at least; 0: as many as the study has.
    """

    study: str
    world: str
    row: str
    seed: int
    tasks: int
    test: int = 0
    tokens: int = 0

    @property
    def name(self) -> str:
        """What no other job is called."""
        sizes = f"{self.tasks} {self.test} {self.tokens or ''}".rstrip()
        return f"{self.study} {self.world}/{self.row}/{self.seed}/{sizes}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a row on a stream. It is made of JSON's values.

    Attributes:
        scores: Of the answers, task by task.
        niches: Of the tasks.
        test: Scores on tasks of which nothing was learnt.
        calls: Model calls, of agents and of operators.
        tokens: Their tokens.
        tested: Tokens of the test, of both together.
        dropped: Answers of operators without effect.
        figures: What the study measures beside.
        seconds: CPU seconds.
    """

    scores: Sequence[float]
    niches: Sequence[str]
    test: Sequence[float]
    calls: Mapping[str, int]
    tokens: Mapping[str, int]
    tested: int
    dropped: int
    figures: Mapping[str, Any]
    seconds: float

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        """Read it again."""
        return cls(**line)

    @property
    def score(self) -> float:
        """The mean score of the test; where there was none, of the stream."""
        return fmean(self.test or self.scores)

    @property
    def late(self) -> float:
        """The mean score of the last quarter of the stream."""
        return fmean(self.scores[-max(1, len(self.scores) // LAST) :])

    def on(self, niche: str) -> float:
        """Return the mean score of a niche."""
        pairs = zip(self.scores, self.niches, strict=True)
        return fmean(score for score, of in pairs if of == niche)

    @property
    def a_task(self) -> float:
        """Tokens of all that a task takes, operators' included."""
        return sum(self.tokens.values()) / len(self.scores)


def work(job: Job) -> Outcome:
    """Do a job; the same for the same job, but for the seconds."""
    with in_memory() as folder:
        return work_in(folder, job)


def work_in(
    folder: Path, job: Job, on_episode: Callable[[Mapping[str, Any]], None] | None = None
) -> Outcome:
    """Do a job, and leave its pool in a folder.

    Args:
        folder: Where it is left, as `pool`.
        job: What to do.
        on_episode: Called with the line of each task that is done.
    """
    study: Study = import_module(f"studies.{job.study}").STUDY
    return asyncio.run(_outcome(study, job, folder, on_episode or (lambda _: None)))


async def _outcome(
    study: Study, job: Job, folder: Path, on_episode: Callable[[Mapping[str, Any]], None]
) -> Outcome:
    began, row = time.process_time(), study.row(job.row)
    sizes = {"answer_tokens": job.tokens} if job.tokens else {}
    world = replace(study.worlds(job.world, job.seed, job.row), **row.changes, **sizes)
    gateway = Simulated(world, study.operators, study.agents, study.models)
    files = study.teams(world, folder)
    pool = Pool.init(
        folder / "pool", [str(file) for file in files], catalogue=catalogue(*study.models)
    )
    recipe = _recipe(study, row, job.seed, files)
    with Journal.open(open_folder(pool.folder, NAME)) as journal:
        stage = stage_of(
            recipe,
            services_of(gateway, job.seed),
            journal,
            pool,
            catalogue=catalogue(*study.models),
            ceiling=study.ceiling,
            memory=memory_of(pool),
            name=NAME,
        )
        budget = Budget(Caps(calls=study.calls or None), name="the trial")
        evolution = Evolution(
            context=replace(stage, budget=budget),
            strategy=strategy_of(recipe.strategy),
            tasks=stream(world, job.seed, job.tasks),
            folder=pool.folder / "evolutions" / NAME,
            on_episode=on_episode,
        )
        with suppress(LimitError):
            await evolution.to_the_end()
        paid, lines = dict(gateway.paid), evolution.lines()
        test = await _tested(stage, world, job) if job.test else []
    pool.refresh()
    trial = Trial(world=world, context=stage, lines=lines, gateway=gateway)
    spent = sum(item.tokens for item in gateway.paid.values())
    return Outcome(
        scores=[line["score"] or 0.0 for line in lines],
        niches=[line["niche"] for line in lines],
        test=test,
        calls={who: usage.calls for who, usage in paid.items()},
        tokens={who: usage.tokens for who, usage in paid.items()},
        tested=spent - sum(usage.tokens for usage in paid.values()),
        dropped=sum(len(line["dropped"]) for line in lines),
        figures={**study.figures(trial)},
        seconds=time.process_time() - began,
    )


def _recipe(study: Study, row: Row, seed: int, files: Sequence[Path]) -> Recipe:
    strategy = strategy_of(row.strategy or study.strategy)
    shared = {} if row.strategy else study.settings
    return Recipe(
        strategy=strategy.name,
        settings=strategy.settings(**{**shared, **row.settings}),
        seeds=tuple(map(str, files)),
        meta_model=META,
        seed=seed,
        **row.recipe,
    )


async def _tested(context: EvolutionContext, world: World, job: Job) -> list[float]:
    """Have the strategy, with all that it learnt, work on tasks of which it learns nothing."""
    context.pool.refresh()
    strategy = strategy_of(context.recipe.strategy)
    trials = await HeldOut(
        context=context,
        subjects=[Learned(strategy=strategy, view=context.view(), after=job.tasks)],
        tasks=stream(world, job.seed, job.test, "test"),
        repeats=1,
        workers=1,
    ).to_the_end()
    return [trial["score"] or 0.0 for trial in trials]
