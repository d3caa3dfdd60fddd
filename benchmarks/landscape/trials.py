"""Evolves teams in the landscape, in this process and in memory, and measures what came of it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...operators.evolution import Evolution
from ...operators.folder import open_folder
from ...operators.report import Report
from ...operators.stage import Stage
from ...operators.strategies import strategy_of
from ...pool.expectation import expected_scores
from ...pool.pool import Pool
from ...runtime.budget import Budget
from ...runtime.jail import Jails
from ...runtime.journal import Journal
from ...runtime.scrubber import Scrubber
from ...runtime.services import Services, Setting
from ...runtime.tools import Toolbox
from ...schema.catalogue import Catalogue
from ...schema.ceiling import Ceiling
from ...schema.recipe import Recipe
from .gateway import META, Simulated, catalogue_models, tasks
from .meta import MetaModel
from .world import MODELS, NICHES, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["MOST_AGENTS", "PUZZLES", "SEEDS", "Outcome", "Trial", "evolve"]

TEAMS = Path(__file__).parent / "teams"
SEEDS = ("peer_review", "majority_vote", "debate")
PUZZLES = 20
MOST_AGENTS = 4
CEILING = Ceiling(models=frozenset(MODELS), agents=MOST_AGENTS)
RECIPE = Recipe(
    strategy="evomas",
    parents=2,
    steps=2,
    components=("prompts", "model_id", "topology"),
    meta_model=META,
    workers=4,
    memory=0,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A way to evolve.

    Attributes:
        name: What the table calls it.
        skill: The meta-model's.
        seeds: Names of seed teams.
        puzzles: How many a task has.
        order: Which shuffle of the tasks; 0 for none.
        changes: What differs from `RECIPE`.
    """

    name: str
    skill: float = 0.7
    seeds: tuple[str, ...] = SEEDS
    puzzles: int = PUZZLES
    order: int = 0
    changes: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a trial.

    Attributes:
        held_out: What the team is worth, as a mean over niches, that is expected to score most.
        by_mean: The same of the team with the highest mean score.
        online: The mean score of the best candidate of each task.
        calls: Model calls for each task, those of operators included.
        best: For each niche, what the best team of the pool is worth, which nobody is told.
        begun: The held-out score of the seeds.
        operators: For each operator, how many teams it made, how many came to nothing, and how many
            were the best of their task.
    """

    held_out: float
    by_mean: float
    online: float
    calls: float
    best: Mapping[str, float]
    begun: float
    operators: Mapping[str, Mapping[str, int]]


def evolve(trial: Trial, seed: int, count: int) -> Outcome:
    """Evolve teams over a stream of tasks; the same for the same arguments."""
    memory = Path("/dev/shm")  # noqa: S108 - a private folder in it
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        return asyncio.run(_outcome(trial, seed, count, Path(folder)))


async def _outcome(trial: Trial, seed: int, count: int, folder: Path) -> Outcome:
    stream = tasks(seed, count, trial.puzzles, trial.order)
    recipe = replace(RECIPE, seed=seed, **dict(trial.changes))
    catalogue = Catalogue.of_host(models=catalogue_models())
    seeds = [TEAMS / f"{one}.yaml" for one in trial.seeds]
    pool = Pool.init(folder / "pool", seeds, catalogue=catalogue)
    begun = _held_out(pool, _expected)
    place = open_folder(pool.folder, "trial")
    meta = MetaModel(skill=trial.skill, catalogue=catalogue, ceiling=CEILING)
    services = Services(
        setting=Setting(seed=seed),
        gateway=Simulated(meta),
        toolbox=Toolbox(),
        jails=Jails(),
        cache=None,
    )
    with Journal.open(place) as journal:
        stage = Stage(
            name="trial",
            recipe=recipe,
            catalogue=catalogue,
            ceiling=CEILING,
            services=services,
            journal=journal,
            scrubber=Scrubber(frozenset()),
            budget=Budget(),
            pool=pool,
            memory=None,
        )
        strategy = strategy_of(recipe.strategy)
        evolution = Evolution(stage=stage, strategy=strategy, tasks=stream, folder=place)
        await evolution.to_the_end()
        calls, lines = journal.spent().calls, evolution.lines()
    pool.refresh()
    return Outcome(
        held_out=_held_out(pool, _expected),
        by_mean=_held_out(pool, _mean),
        online=sum(one["score"] for one in lines) / count,
        calls=calls / count,
        best=_best(pool),
        begun=begun,
        operators=Report.of(lines).value()["operators"],
    )


def _held_out(pool: Pool, judged: Callable[[Pool, str], Mapping[str, float]]) -> float:
    """Measure the teams that a person would take by what the pool knows, one for each niche."""
    total = 0.0
    for niche in NICHES:
        worth = judged(pool, niche)
        team = pool.teams[max(worth, key=lambda name: worth[name])].team
        total += Shape.of(team, pool.catalogue).value(niche)
    return total / len(NICHES)


def _expected(pool: Pool, niche: str) -> Mapping[str, float]:
    return expected_scores(pool.teams.values(), niche)


def _mean(pool: Pool, niche: str) -> Mapping[str, float]:
    return {name: one.on(niche).score or 0.0 for name, one in pool.teams.items()}


def _best(pool: Pool) -> Mapping[str, float]:
    shapes = [Shape.of(one.team, pool.catalogue) for one in pool.teams.values()]
    return {niche: max(shape.value(niche) for shape in shapes) for niche in NICHES}
