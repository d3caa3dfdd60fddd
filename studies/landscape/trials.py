"""Evolves teams in a landscape, in this process and in memory, and measures what came of it."""

from __future__ import annotations

import asyncio
import statistics
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.methods.search.admission import Admitting
from coterie.operators.methods.search.settings import SearchSettings
from coterie.pool.expectation.expectation import ranked
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.schema.loading.recipe import Recipe

from ..simulated import in_memory, memory_of, services_of, stage_of
from .gateway import Simulated, tasks
from .landscapes import NICHES
from .meta import MetaModel
from .names import CEILING, META, catalogue, seed_files
from .world import Shape, puzzles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from coterie.operators.evolution.context import EvolutionContext
    from coterie.operators.evolution.episode import Episode
    from coterie.operators.evolution.strategy import Strategy
    from coterie.operators.methods.search.search import Search
    from coterie.schema.edits import Component
    from coterie.schema.team.team import Team

    from .landscapes import Landscape
    from .world import Puzzles

__all__ = ["COMPONENTS", "PUZZLES", "SEEDS", "Children", "Outcome", "Trial", "evolve"]

SEEDS = ("peer_review", "majority_vote", "debate")
PUZZLES = 20
CHEAPEST = 4
"""No task of any trial costs fewer calls."""
COMPONENTS: tuple[Component, ...] = ("prompts", "model_id", "topology")
RECIPE = Recipe(
    strategy="evomas",
    settings=SearchSettings(components=COMPONENTS, early_stop=False),
    meta_model=META,
    workers=1,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A way to evolve.

    Attributes:
        name: What the table calls it.
        skill: The meta-model's; None for the landscape's.
        everywhere: Whether its edits may touch every agent, or one only.
        seeds: Names of seed teams.
        puzzles: How many a task has.
        changes: What differs from `RECIPE` and its settings.
    """

    name: str
    skill: float | None = None
    everywhere: bool = True
    seeds: tuple[str, ...] = SEEDS
    puzzles: int = PUZZLES
    changes: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(kw_only=True, slots=True)
class Children:
    """What came of an operator's children.

    Attributes:
        gains: Of each child that was tried and is no copy of a parent: what it is worth on the
            task's niche, less what its best parent is.
        dropped: How many came to nothing.
        questions: How many questions were asked for all of them.
    """

    gains: list[float] = field(default_factory=list[float])
    dropped: int = 0
    questions: int = 0

    def __add__(self, other: Children) -> Children:
        """Put those of two trials together."""
        return Children(
            gains=[*self.gains, *other.gains],
            dropped=self.dropped + other.dropped,
            questions=self.questions + other.questions,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a trial. Whatever teams are worth, they are on fresh puzzles.

    Attributes:
        held_out: What the teams are worth, as a mean over niches, that the pool expects most of.
        promised: What it expects of them.
        by_mean: What the teams are worth of the highest mean scores.
        begun: What the teams are worth of which it expects most before anything was tried.
        best: What the best teams of the pool are worth, by the puzzles that the meta-model knows.
        online: What the team is worth that a task's episode found best, as a mean over tasks.
        tasks: How many tasks the calls sufficed for.
        calls: How many model calls were made, operators' included.
        teams: How many teams are in the pool.
        children: What came of each operator's children.
    """

    held_out: float
    promised: float
    by_mean: float
    begun: float
    best: float
    online: float
    tasks: int
    calls: int
    teams: int
    children: Mapping[str, Children]


class _Spent(Exception):
    """The trial has made its calls."""


def evolve(
    trial: Trial, landscape: Landscape, seed: int, calls: int, folder: Path | None = None
) -> Outcome:
    """Evolve teams until so many calls are made; the same for the same arguments.

    The task in whose episode the last of them falls is finished.

    Args:
        trial: How.
        landscape: Where.
        seed: Which puzzles, and which chance.
        calls: How many model calls, operators' included.
        folder: Where to keep the pool, as `pool`. None: it is not kept.
    """
    if folder is not None:
        return asyncio.run(_outcome(trial, landscape, seed, calls, folder))
    with in_memory() as passing:
        return asyncio.run(_outcome(trial, landscape, seed, calls, passing))


async def _outcome(
    trial: Trial, landscape: Landscape, seed: int, calls: int, folder: Path
) -> Outcome:
    recipe = _recipe(trial, seed)
    pool = Pool.init(folder / "pool", seed_files(*trial.seeds), catalogue=catalogue())
    fresh = puzzles(landscape, "fresh")
    begun, _ = _picked(pool, fresh, _expected)
    skill = landscape.skill if trial.skill is None else trial.skill
    meta = MetaModel(landscape=landscape, skill=skill, everywhere=trial.everywhere)
    gateway = Simulated(landscape, meta)
    watch = _Watch(fresh)
    with Journal.open(open_folder(pool.folder, "trial")) as journal:
        stage = _stage(recipe, gateway, journal, pool, seed)

        def on_episode(_line: Mapping[str, object]) -> None:
            if gateway.calls >= calls:
                raise _Spent

        evolution = Evolution(
            stage=stage,
            strategy=watch.watched(recipe.strategy),
            tasks=tasks(seed, calls // CHEAPEST + 1, trial.puzzles),
            folder=pool.folder / "evolutions" / "trial",
            on_episode=on_episode,
        )
        try:
            await evolution.to_the_end()
        except _Spent:
            pass
        else:
            raise RuntimeError(f"{trial.name}: the stream is too short for {calls} calls.")
    pool.refresh()
    held_out, promised = _picked(pool, fresh, _expected)
    by_mean, _ = _picked(pool, fresh, _mean)
    for operator, questions in meta.asked.items():
        watch.children.setdefault(operator, Children()).questions = questions
    return Outcome(
        held_out=held_out,
        promised=promised,
        by_mean=by_mean,
        begun=begun,
        best=_best(pool, landscape),
        online=statistics.fmean(watch.online),
        tasks=len(watch.online),
        calls=gateway.calls,
        teams=len(pool.teams),
        children=dict(sorted(watch.children.items())),
    )


def _recipe(trial: Trial, seed: int) -> Recipe:
    own = {field.name for field in fields(SearchSettings)}
    changed: dict[str, Any] = {key: item for key, item in trial.changes.items() if key in own}
    common: dict[str, Any] = {key: item for key, item in trial.changes.items() if key not in own}
    return replace(RECIPE, seed=seed, settings=replace(RECIPE.settings, **changed), **common)


def _stage(
    recipe: Recipe, gateway: Simulated, journal: Journal, pool: Pool, seed: int
) -> EvolutionContext:
    return stage_of(
        recipe,
        services_of(gateway, seed),
        journal,
        pool,
        catalogue=catalogue(),
        ceiling=CEILING,
        memory=memory_of(pool) if recipe.settings.memory else None,
    )


class _Watch:
    """Measures what a strategy's candidates are worth, of which the strategy learns nothing."""

    def __init__(self, fresh: Puzzles) -> None:
        self._fresh = fresh
        self._known = puzzles(fresh.landscape, "known")
        self.online: list[float] = []
        self.children: dict[str, Children] = {}

    def watched(self, name: str) -> Strategy:
        """Give a strategy that does the same and is watched."""
        strategy = strategy_of(name)

        async def watched(episode: Episode) -> None:
            await strategy.episode(episode)
            if isinstance(episode.closing, Admitting):
                self._take(episode.closing.search)

        return replace(strategy, episode=watched)

    def _take(self, search: Search) -> None:
        niche = search.episode.task.niche or ""
        self.online.append(self._fresh.value(_shape(search.best.team), niche))
        for one in search.candidates:
            parents = [search.candidate(number).team for number in one.sources]
            parents = parents or [search.members[name].team for name in one.born.parents]
            if one.team.content_hash not in {other.content_hash for other in parents}:
                gain = self._gain(_shape(one.team), [*map(_shape, parents)], niche)
                self._of(one.born.operator).gains.append(gain)
                if one.component is not None:
                    self._of(f"{one.born.operator} {one.component}").gains.append(gain)
        for lost in search.episode.dropped:
            self._of(lost.operator).dropped += 1

    def _of(self, operator: str) -> Children:
        return self.children.setdefault(operator, Children())

    def _gain(self, child: Shape, parents: list[Shape], niche: str) -> float:
        """Which parent is the best, other puzzles tell: else luck on these would count for it."""
        best = max(parents, key=lambda one: self._known.value(one, niche))
        return self._fresh.value(child, niche) - self._fresh.value(best, niche)


def _shape(team: Team) -> Shape:
    return Shape.of(team, catalogue())


def _picked(
    pool: Pool, fresh: Puzzles, judged: Callable[[Pool, str], Mapping[str, float]]
) -> tuple[float, float]:
    """Measure the teams that a person would take by what the pool knows, one for each niche.

    Returns:
        What they are worth, and what the pool knows them for.
    """
    worth, promised = 0.0, 0.0
    for niche in NICHES:
        known = judged(pool, niche)
        name = next(iter(known))  # as the pool ranks them
        worth += fresh.value(_shape(pool.teams[name].team), niche)
        promised += known[name]
    return worth / len(NICHES), promised / len(NICHES)


def _expected(pool: Pool, niche: str) -> Mapping[str, float]:
    return {one.name: known.score for one, known in ranked(pool.teams.values(), niche).items()}


def _mean(pool: Pool, niche: str) -> Mapping[str, float]:
    means = {name: one.on(niche).score or 0.0 for name, one in pool.teams.items()}
    return {name: means[name] for name in sorted(means, key=lambda one: -means[one])}


def _best(pool: Pool, landscape: Landscape) -> float:
    """Measure the teams that somebody would take who knows other puzzles, one for each niche."""
    known, fresh = (puzzles(landscape, one) for one in ("known", "fresh"))
    shapes = [_shape(one.team) for one in pool.teams.values()]
    best = (max(shapes, key=lambda one, at=niche: known.value(one, at)) for niche in NICHES)
    return statistics.fmean(
        fresh.value(shape, niche) for shape, niche in zip(best, NICHES, strict=True)
    )
