"""A seed and an evolved pool, called by the clients of all protocols."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

from coterie.pool.ledger.changes import Evaluated
from coterie.pool.teams.pool import Pool
from coterie.pool.values.statistics import Trial
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.serving.teams import load
from coterie.runtime.values.usage import Usage
from coterie.schema import Lineage, load_team

from .clients import CLIENTS
from .opened import PAIR, catalogue, opened, pair

REPLIES = {
    "the better [judge]": "It is 7.",
    "[judge]": "It is 8.",
    "[worker]": "a draft",
    "": Reply.json({"answer": "positive"}),
}


def evolved(here: Path) -> None:
    """Make a pool of a team and its child, which scores better."""
    pool = Pool.init(here / "town")
    parent = pool.add(load_team(pair(here)), Lineage(operator="seed"), op="seed")
    better = load_team(pair(here, PAIR.replace("are [judge]", "are the better [judge]")))
    born = Lineage(operator="mutate", parents=(parent.name,))
    child = pool.add(better, born, op="child")
    for member, score in ((parent.name, 0.2), (child.name, 0.9)):
        for number in range(8):
            trial = Trial(task=f"t{number}", score=score, niche=None, usage=Usage(calls=2))
            pool.commit(Evaluated(member=member, trial=trial), op=f"{member}/{number}")


def test_clients_of_every_protocol_call_a_seed_and_the_best_team_of_a_pool(here: Path) -> None:
    teams = {"pool:town": "It is 7.", "majority_vote_3": "positive"}
    calls = [*itertools.product(CLIENTS, teams, (False, True))]

    async def work(model: ScriptedModel) -> list[str]:
        async def answer(protocol: str, team: str, streamed: bool) -> str:
            key = f"{protocol} {team} {streamed}"
            return await CLIENTS[protocol](at.http, team, "Good?", key=key, streamed=streamed)

        known, sources = catalogue(model), ("pool:town", "seed:majority_vote_3")
        assert load("town", known).name == "pool:town"
        async with opened(here, known, *sources, keys=["k" * 16]) as at:
            return await asyncio.gather(*itertools.starmap(answer, calls))

    evolved(here)
    with ScriptedModel(REPLIES) as model:
        assert asyncio.run(work(model)) == [teams[team] for _, team, _ in calls]
