"""Runs strategies in a world, in this process and in memory, and measures what they hand over."""

from __future__ import annotations

import asyncio
import random
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.evolution.stream import TaskStream
from coterie.operators.methods.race.settings import RaceSettings
from coterie.operators.methods.race.split import split
from coterie.operators.methods.race.strategy import race
from coterie.pool.expectation.expectation import most_promising
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.budget import Budget
from coterie.runtime.values.caps import Caps
from coterie.schema.loading.recipe import Recipe
from coterie.schema.team.writing import dump
from coterie.schema.values.errors import LimitError

from ..simulated import in_memory, memory_of, services_of, stage_of
from .gateway import Simulated
from .worlds import AGENT, META, catalogue

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from coterie.operators.evolution.context import EvolutionContext
    from coterie.schema.team.team import Team

    from .worlds import World


def _recipe(name: str, **settings: object) -> Recipe:
    """Return the recipe of a strategy with its defaults, but for some settings."""
    return Recipe(strategy=name, settings=strategy_of(name).settings(**settings), meta_model=META)


SEARCHES = {
    "EvoMAS": _recipe("evomas"),
    "EvoMAS, by chance": _recipe("evomas", operators="chance", choice="chance", select="chance"),
    "Meta-Team": _recipe("meta_team"),
    "MATTRL": _recipe("mattrl"),
    "best of n": _recipe("best_of_n"),
}
"""The strategies that work task by task, with their defaults."""


WORKERS = 4
"""How many runs a race makes side by side, as it does without a recipe."""


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
    with in_memory() as folder, _staged(world, SEARCHES[name], world.budget, folder) as staged:
        stage, gateway, place = staged
        strategy = strategy_of(stage.recipe.strategy)
        evolution = Evolution(context=stage, strategy=strategy, tasks=world.tasks, folder=place)
        with suppress(LimitError):
            asyncio.run(evolution.to_the_end())
        stage.pool.refresh()
        best = stage.pool.head or most_promising(stage.pool)[0]
        return outcome_of(world, best.team, gateway.calls[AGENT], gateway.calls[META])


def raced(world: World, kinds: tuple[str, ...] = RaceSettings().kinds) -> Outcome:
    """Race until the budget ends, and let the last word be on tasks held back.

    A race that runs out of budget before it has its last word hands over the original.
    """
    recipe = replace(_recipe("race", kinds=kinds), workers=WORKERS)
    calls = _calls_with_last_word(world)
    with in_memory() as folder, _staged(world, recipe, calls, folder) as (stage, gateway, place):
        stream = TaskStream(context=stage, tasks=world.tasks, folder=place)
        try:
            result = asyncio.run(race(stream))
        except LimitError:
            return outcome_of(world, world.team, gateway.calls[AGENT], gateway.calls[META])
        teams = [stage.pool.member(each.member).team for each in result.entrants]
    word = result.last_word
    last = word.usage.calls if word else 0
    handed = teams[result.winner.number]
    outcome = outcome_of(world, handed, gateway.calls[AGENT] - last, gateway.calls[META])
    outcome = replace(outcome, last=last, claims=result.is_better)
    if word is None:
        return outcome
    gain = world.worth_of(teams[result.leader]) - world.base
    return replace(outcome, interval=(word.low, word.high), tested=gain)


def _calls_with_last_word(world: World) -> int:
    """Return the calls with which a race has the world's budget for its search.

    That is what a last word takes that runs once on each held-back task, and at most a quarter of
    all. A race itself decides how much of all it keeps for its last word.
    """
    pair = 2 * len(world.prompts)
    held = len(split(world.tasks, random.Random(0)).held)  # noqa: S311 - guards nothing
    return world.budget + min(pair * held, world.budget // 3 // pair * pair)


@contextmanager
def _staged(
    world: World, recipe: Recipe, calls: int, folder: Path
) -> Generator[tuple[EvolutionContext, Simulated, Path]]:
    """Open what an evolution in a world has, with a budget of calls."""
    pool, gateway = pool_of(world, folder), Simulated(world)
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
        budget = Budget(Caps(calls=calls), name="the evolution")
        yield replace(stage, budget=budget), gateway, place


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
