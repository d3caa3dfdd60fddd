"""Runs strategies in a world, in this process and in memory, and measures what they hand over."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.methods.search.settings import SearchSettings
from coterie.pool.expectation.expectation import most_promising
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.budget import Budget
from coterie.runtime.values.caps import Caps
from coterie.schema.host.settings import find_strategy
from coterie.schema.loading.recipe import Recipe
from coterie.schema.team.writing import dump
from coterie.schema.values.errors import LimitError

from ..simulated import in_memory, memory_of, services_of, stage_of
from .gateway import Simulated
from .worlds import AGENT, META, catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from coterie.schema.team.team import Team

    from .worlds import World

__all__ = ["SEARCHES", "Outcome", "outcome_of", "searched"]

SEARCHES = {
    "EvoMAS": Recipe(strategy="evomas", settings=SearchSettings(), meta_model=META),
    "EvoMAS, by chance": Recipe(
        strategy="evomas",
        settings=SearchSettings(operators="chance", choice="chance", select="chance"),
        meta_model=META,
    ),
    "Meta-Team": Recipe(
        strategy="meta_team", settings=find_strategy("meta_team").settings(), meta_model=META
    ),
    "MATTRL": Recipe(
        strategy="mattrl", settings=find_strategy("mattrl").settings(), meta_model=META
    ),
    "best of n": Recipe(strategy="best_of_n", settings=SearchSettings(), meta_model=META),
}
"""The strategies that work task by task, with their defaults."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a trial led to.

    Attributes:
        found: Whether the final team has all that was to be found.
        gain: What the final team is truly worth, less what the original is.
        agents: Calls of agents until the final team was chosen.
        operators: Calls of operators and of the judge.
        last: Calls of the last word on held-back tasks.
        claims: Whether a gain was claimed.
        interval: The reported interval of the gain on held-back tasks, if there is one.
        tested: The true gain of the team that was measured for that interval.
    """

    found: bool
    gain: float
    agents: int
    operators: int
    last: int = 0
    claims: bool = False
    interval: tuple[float, float] | None = None
    tested: float = 0.0


def searched(world: World, name: str) -> Outcome:
    """Run a strategy that works task by task until the budget ends, and take its best team."""
    with in_memory() as folder:
        return asyncio.run(_searched(world, SEARCHES[name], folder))


async def _searched(world: World, recipe: Recipe, folder: Path) -> Outcome:
    pool = pool_of(world, folder)
    gateway = Simulated(world)
    place = open_folder(pool.folder, "trial")
    with Journal.open(place) as journal:
        stage = stage_of(
            replace(recipe, seed=world.seed),
            services_of(gateway, world.seed),
            journal,
            pool,
            catalogue=catalogue(),
            ceiling=world.ceiling,
            memory=memory_of(pool),
        )
        stage = replace(stage, budget=Budget(Caps(calls=world.budget), name="the evolution"))
        evolution = Evolution(
            stage=stage, strategy=strategy_of(recipe.strategy), tasks=world.tasks, folder=place
        )
        with suppress(LimitError):
            await evolution.to_the_end()
    pool.refresh()
    best = pool.head or most_promising(pool)[0]
    return outcome_of(world, best.team, gateway.calls[AGENT], gateway.calls[META])


def pool_of(world: World, folder: Path) -> Pool:
    """Make a pool of the original team."""
    seed = folder / "original.yaml"
    seed.write_text(dump(world.team), encoding="utf-8")
    return Pool.init(folder / "pool", [seed], catalogue=catalogue())


def outcome_of(world: World, team: Team, agents: int, operators: int) -> Outcome:
    """Measure a final team; whoever hands over another than the original claims a gain."""
    return Outcome(
        found=world.is_found(team),
        gain=world.worth_of(team) - world.base,
        agents=agents,
        operators=operators,
        claims=team.content_hash != world.team.content_hash,
    )
