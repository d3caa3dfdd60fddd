"""Evolves teams of three where everybody's worth is known, with and without reused answers.

A team is three solvers and a vote, and an edit changes the prompt of one solver. So a child that
reuses answers has the luck of its parent in two of its three parts.
"""

from __future__ import annotations

import asyncio
import random
import re
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.lines import lines_in, saved_of, usage_of
from coterie.operators.evolution.strategy import strategy_of
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.schema import Agent, Catalogue, Lineage, Model, Task, Team
from coterie.schema.edits import SetPrompt
from coterie.schema.loading.ceiling import CapabilityPolicy

from ..calibration.evolving import META, RECIPE, Simulated
from ..calibration.measures import measured
from ..calibration.world import FOUNDERS, WORLDS, prompt_of, worth_of
from ..simulated import in_memory, services_of, stage_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coterie.schema.loading.recipe import Reuse

    from ..calibration.measures import Outcome
    from ..calibration.world import World

MODEL, VOTE = "agent", "vote"
SOLVERS = ("ann", "bob", "cyn")
PROMPT = re.compile(r"Worth \d\.\d{6}, kind \d+\. You are (\w+)\.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Luck:
    """The result of one evolution.

    Attributes:
        pool: What its pool says of its teams, against the truth.
        online: The mean score of each task's best candidate.
        born: The share of tasks of which a team came into the pool.
        better: What the children are worth that came in, less their parents, on average.
        asked: Calls that teams made.
        whole: Calls that they would have made without reused answers.
    """

    pool: Outcome
    online: float
    born: float
    better: float
    asked: int
    whole: int


def evolve(name: str, reuse: Reuse, count: int, seed: int) -> Luck:
    """Evolve teams over a stream of tasks; the same for the same arguments.

    Args:
        name: The world, one of those of docs/research/calibration.md.
        reuse: Whether children reuse their parents' answers.
        count: How many tasks.
        seed: Which repetition.
    """
    world = next(item for item in WORLDS if item.name == name)
    with in_memory() as folder:
        return asyncio.run(_evolved(world, reuse, count, seed, folder))


async def _evolved(world: World, reuse: Reuse, count: int, seed: int, folder: Path) -> Luck:
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (MODEL, META)}
    catalogue = Catalogue.of_host(models=models)
    pool = Pool.init(folder / "pool", catalogue=catalogue)
    chance = random.Random(f"{world.name}/{seed}")  # noqa: S311 - guards nothing
    for number in range(FOUNDERS):
        team = _founder(world, number, chance)
        pool.add(team, Lineage(operator="seed"), op=team.name)
    place = open_folder(pool.folder, "luck")
    with Journal.open(place) as journal:
        stage = stage_of(
            replace(RECIPE, reuse=reuse),
            services_of(_Trios(models, world, seed), seed),
            journal,
            pool,
            catalogue=catalogue,
            ceiling=CapabilityPolicy(models=frozenset({MODEL}), agents=len(SOLVERS) + 1),
            name="luck",
        )
        tasks = [Task(id=f"t{n}", query=f"Question {n}.", answer="yes") for n in range(count)]
        strategy = strategy_of(RECIPE.strategy)
        await Evolution(context=stage, strategy=strategy, tasks=tasks, folder=place).to_the_end()
    pool.refresh()
    return _luck(pool, [*lines_in(place)])


def _founder(world: World, number: int, chance: random.Random) -> Team:
    agents = {
        name: Agent(id=name, model_id=MODEL, prompt=_prompt(name, world.founder(chance), place))
        for place, name in enumerate(SOLVERS, start=number * len(SOLVERS))
    }
    vote = Agent(id=VOTE, agent_type="Function", function="majority")
    reports: dict[str, tuple[str, ...]] = dict.fromkeys(SOLVERS, (VOTE,))
    return Team(name=f"trio_{number + 1}", agents={**agents, VOTE: vote}, reports_to=reports)


def _prompt(name: str, worth: float, kind: int) -> str:
    return f"{prompt_of(worth, kind)} You are {name}."


def _worth(team: Team) -> float:
    """Return how often two of three are right, or all of them."""
    value, two, three = (worth_of(team.agents[name].prompt) for name in SOLVERS)
    return value * two + value * three + two * three - 2 * value * two * three


def _luck(pool: Pool, lines: list[Mapping[str, Any]]) -> Luck:
    teams = [*pool.teams.values()]
    worths = {team.name: _worth(team.team) for team in teams}
    gains = [
        worths[team.name] - max(worths[parent] for parent in team.lineage.parents)
        for team in teams
        if team.lineage.parents
    ]
    asked = sum((usage_of(line).calls for line in lines), 0)
    return Luck(
        pool=measured(teams, worths),
        online=statistics.fmean(line["score"] for line in lines),
        born=statistics.fmean(bool(line["new"]) for line in lines),
        better=statistics.fmean(gains) if gains else 0.0,
        asked=asked,
        whole=asked + sum(saved_of(line).calls for line in lines),
    )


class _Trios(Simulated):
    """A gateway that asks nobody, and changes one solver of three."""

    def takes_seed(self, alias: str) -> bool:
        """Answer the same to the same, under the same seed."""
        return alias in self.models

    def edit(self, shown: str, chance: random.Random) -> SetPrompt:
        """Draw the edit that makes a child of a team that is shown."""
        name = chance.choice(SOLVERS)
        own = next(item[0] for item in PROMPT.finditer(shown) if item[1] == name)
        child = self.world.child(worth_of(own), chance)
        return SetPrompt(agent=name, prompt=_prompt(name, child, chance.randrange(10**9)))
