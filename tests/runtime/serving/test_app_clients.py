"""A seed and an evolved pool, called by the clients of all protocols."""

import asyncio
import itertools
from pathlib import Path

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.serving.teams import load

from .clients import CLIENTS
from .opened import catalogue, evolved, opened

REPLIES = {
    "the better [judge]": "It is 7.",
    "[judge]": "It is 8.",
    "[worker]": "a draft",
    "": Reply.json({"answer": "positive"}),
}


async def test_clients_of_every_protocol_call_a_seed_and_the_best_team_of_a_pool(
    here: Path,
) -> None:
    teams = {"pool:town": "It is 7.", "majority_vote_3": "positive"}
    calls = [*itertools.product(CLIENTS, teams, (False, True))]
    evolved(here)
    with ScriptedModel(REPLIES) as model:

        async def answer(protocol: str, team: str, streamed: bool) -> str:
            key = f"{protocol} {team} {streamed}"
            return await CLIENTS[protocol](at.http, team, "Good?", key=key, streamed=streamed)

        known, sources = catalogue(model), ("pool:town", "seed:majority_vote_3")
        assert load("town", known).name == "pool:town"
        async with opened(here, known, *sources, keys=["k" * 16]) as at:
            answers = await asyncio.gather(*itertools.starmap(answer, calls))
    assert answers == [teams[team] for _, team, _ in calls]
