"""Evolves teams in a world by the loop that users have: its pool, its strategy, its files.

Only models are made up: an agent is right as often as its prompt says, and the meta-model leaves
half of the teams that it is to adapt as they are.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.methods.search.settings import SearchSettings
from coterie.pool.teams.pool import Pool
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Catalogue, Lineage, Model, Task, Team
from coterie.schema.edits import SetPrompt, edits_to_values
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.recipe import Recipe

from ..gateways import OfflineGateway
from ..simulated import services_of, stage_of
from .world import FOUNDERS, UNCHANGED, prompt_of, worth_of

if TYPE_CHECKING:
    from coterie.pool.ledger.members import Member
    from coterie.runtime.gateway import ChatRequest

    from .world import World

AGENT, META, SOLVER = "agent", "meta", "solver"
ADAPTS = "Adapt it to the task before it starts."
"""What only the question says by which a team is adapted; a mutation has to change something."""
RECIPE = Recipe(
    strategy="evomas",
    settings=SearchSettings(components=("prompts",), moves=("mutate",), memory=0, early_stop=False),
    meta_model=META,
)
"""The default, but that there is one thing to change, that nothing is remembered in words, and that
each task has all its steps."""


def evolve(world: World, count: int, seed: int) -> tuple[list[Member], dict[str, float]]:
    """Evolve teams over a stream of tasks; the same for the same arguments.

    Returns:
        The pool's teams, and what each is worth by its name.
    """
    memory = Path("/dev/shm")  # noqa: S108 - a private folder in it
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        return asyncio.run(_evolved(world, count, seed, Path(folder)))


async def _evolved(
    world: World, count: int, seed: int, folder: Path
) -> tuple[list[Member], dict[str, float]]:
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (AGENT, META)}
    catalogue = Catalogue.of_host(models=models)
    pool = Pool.init(folder / "pool", catalogue=catalogue)
    chance = random.Random(f"{world.name}/{seed}")  # noqa: S311 - guards nothing
    for number in range(FOUNDERS):
        prompt = prompt_of(world.founder(chance), number)
        agent = Agent(id=SOLVER, model_id=AGENT, prompt=prompt)
        team = Team(name=f"solo_{number + 1}", agents={SOLVER: agent})
        pool.add(team, Lineage(operator="seed"), op=team.name)
    place = open_folder(pool.folder, "calibration")
    services = services_of(Simulated(models, world, seed), seed)
    with Journal.open(place) as journal:
        stage = stage_of(
            RECIPE,
            services,
            journal,
            pool,
            catalogue=catalogue,
            ceiling=CapabilityPolicy(models=frozenset({AGENT}), agents=1),
            name="calibration",
        )
        tasks = [Task(id=f"t{n}", query=f"Question {n}.", answer="yes") for n in range(count)]
        strategy = strategy_of(RECIPE.strategy)
        await Evolution(context=stage, strategy=strategy, tasks=tasks, folder=place).to_the_end()
    pool.refresh()
    teams = list(pool.teams.values())
    return teams, {item.name: worth_of(item.team.agents[SOLVER].prompt) for item in teams}


class Simulated(OfflineGateway):
    """A gateway that asks nobody. Everything is a function of the request and its seed."""

    def __init__(self, models: dict[str, Model], world: World, seed: int) -> None:
        super().__init__(models, environment={})
        self.world, self._seed = world, seed

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer as an agent, or as the meta-model."""
        shown = "\n".join(str(message["content"]) for message in request.messages)
        chance = random.Random(f"{self._seed}/{request.seed}/{shown}")  # noqa: S311 - guards nothing
        if request.model == META:
            fields = request.schema["properties"] if request.schema else {}
            text = json.dumps({"reason": "Drawn.", **self._decision(fields, shown, chance)})
        else:
            text = "yes" if chance.random() < worth_of(shown) else "no"
        usage = Usage(calls=1, prompt_tokens=100, completion_tokens=1)
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)

    def _decision(self, fields: Any, shown: str, chance: random.Random) -> dict[str, Any]:
        """Answer an operator: the first teams of the list, and edits whose worth is drawn."""
        if "selected" in fields:
            items = fields["selected"]
            return {"selected": items["items"]["enum"][: items["maxItems"]]}
        if ADAPTS in shown and chance.random() < UNCHANGED:
            return {"edits": []}
        return {"edits": edits_to_values((self.edit(shown, chance),))}

    def edit(self, shown: str, chance: random.Random) -> SetPrompt:
        """Draw the edit that makes a child of a team that is shown."""
        child = prompt_of(self.world.child(worth_of(shown), chance), chance.randrange(10**9))
        return SetPrompt(agent=SOLVER, prompt=child)
