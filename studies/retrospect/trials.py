"""Has a team evolve in a world, in this process, freezes it, and measures it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.methods.meta_team.head import head_of
from coterie.pool.teams.pool import Pool
from coterie.runtime.plan.plan import compile
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.usage import Usage
from coterie.schema import dump
from coterie.schema.loading.recipe import Recipe

from ..simulated import in_memory, services_of, stage_of
from .gateway import Simulated
from .landscapes import landscape
from .names import CEILING, META, catalogue
from .outcomes import Outcome, marks_of, noted
from .rows import ALL, row_of
from .tasks import tasks, team_of
from .world import order_of, title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from coterie.operators.evolution.context import EvolutionContext
    from coterie.runtime.agents.outcomes import Run
    from coterie.schema.team.team import Team

    from .landscapes import Landscape

__all__ = ["STRATEGY", "TEST", "Job", "work", "work_in"]

STRATEGY = "meta_team"
NAME = "trial"
"""Of the evolution in its pool."""
TEST = "test"
"""What is paid for to evaluate the team that came of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """An arm in a world.

    Attributes:
        world: Which sort of world.
        row: The arm's name.
        seed: Which world, and which orders.
        learning: By how many orders the team evolves.
        test: By how many others it is evaluated.
    """

    world: str
    row: str
    seed: int
    learning: int
    test: int

    @property
    def name(self) -> str:
        """What no other job is called."""
        return f"{self.world}/{self.row}/{self.seed}/{self.learning} {self.test}"

    @property
    def landscape(self) -> Landscape:
        """The world."""
        return landscape(self.world, self.seed, self.row)


def work(job: Job) -> Outcome:
    """Have a team evolve and evaluate it; the same for the same job, but for the seconds."""
    with in_memory() as folder:
        return work_in(folder, job)


def work_in(folder: Path, job: Job) -> Outcome:
    """Have a team evolve and evaluate it, and leave its pool.

    Args:
        folder: Where it is left, as `pool`.
        job: What to do.
    """
    return asyncio.run(_outcome(folder, job))


async def _outcome(folder: Path, job: Job) -> Outcome:
    began, world, gateway = time.process_time(), job.landscape, Simulated(job.landscape)
    lines, team = await _evolved(folder, job, gateway)
    orders = [order_of(world, title("test", job.seed, number)) for number in range(job.test)]
    tester = Simulated(world)
    runs = await _tested(job, tester, team)
    paid = {**gateway.paid, TEST: sum(tester.paid.values(), Usage())}
    return Outcome(
        learning=[line["score"] or 0.0 for line in lines],
        test=[0.0 if one.score is None else one.score.value for one in runs],
        marks=marks_of((order, one.answer or "") for order, one in zip(orders, runs, strict=True)),
        notes=noted(world, team),
        lost=sum(len(line["dropped"]) for line in lines),
        calls={who: one.calls for who, one in sorted(paid.items())},
        tokens={who: one.tokens for who, one in sorted(paid.items())},
        seconds=time.process_time() - began,
    )


async def _evolved(
    folder: Path, job: Job, gateway: Simulated
) -> tuple[Sequence[Mapping[str, Any]], Team]:
    """Have the team evolve; give the lines of its evolution, and the team that came of it."""
    strategy, row = strategy_of(STRATEGY), row_of(job.row)
    first = folder / "yard.yaml"
    first.write_text(dump(team_of(job.landscape)), encoding="utf-8")
    pool = Pool.init(folder / "pool", [first], catalogue=catalogue())
    recipe = Recipe(
        strategy=STRATEGY,
        settings=strategy.settings(**ALL, **row.settings),
        seeds=(str(first),),
        meta_model=META,
        seed=job.seed,
    )
    with Journal.open(open_folder(pool.folder, NAME)) as journal:
        evolution = Evolution(
            stage=_stage(recipe, gateway, journal, pool),
            strategy=strategy,
            tasks=tasks(job.landscape, "learn", job.seed, job.learning),
            folder=pool.folder / "evolutions" / NAME,
        )
        await evolution.to_the_end()
        lines = evolution.lines()
    pool.refresh()
    return lines, head_of(pool.members).team


def _stage(recipe: Recipe, gateway: Simulated, journal: Journal, pool: Pool) -> EvolutionContext:
    return stage_of(
        recipe,
        services_of(gateway, recipe.seed),
        journal,
        pool,
        catalogue=catalogue(),
        ceiling=CEILING,
        name=NAME,
    )


async def _tested(job: Job, gateway: Simulated, team: Team) -> Sequence[Run]:
    """Have the team, which stays as it is, work on the orders of the test."""
    services, plan = services_of(gateway, job.seed), compile(team, catalogue())
    todo = tasks(job.landscape, "test", job.seed, job.test)
    return [await services.execute(plan, task) for task in todo]
