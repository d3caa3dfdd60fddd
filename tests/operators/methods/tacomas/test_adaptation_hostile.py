"""Hostile answers of judge, coach and restructurer: bounds hold, teams load, all is counted."""

import math
from dataclasses import replace
from typing import Any

from coterie.operators import (
    Coaching,
    Contribution,
    Contributions,
    MetaModel,
    Proposal,
    coach,
    contributions,
    enlist,
    restructure,
)
from coterie.schema.edits import AddAgent, AddEdge, RemoveAgent, RemoveEdge

from ....support.hostile_answers import FIRST, check, examples, hostile
from ...asking import TASK, team
from ...rounds import ROLES, judged, worked

SHARES = {"contributions": 3_000, "coach": 3_000, "restructure": 3_500, "enlist": 500}
"""How many answers each has to live through, at night."""
AGENTS = [*FIRST.agents]
ROOM = 240


def test_contributions(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await contributions(meta_model, "c", TASK, worked(FIRST))

    def are_shares_of_every_agent(result: Contributions) -> None:
        assert [*result.of] == AGENTS
        for share in (result.score, *result.values.values()):
            assert 0 <= share <= 1
            assert math.isfinite(share)
        assert all(len(item.reason) <= 600 for item in (result, *result.of.values()))
        assert isinstance(result.converged, bool)

    count = hostile(
        examples(SHARES["contributions"], part, least=20),
        work,
        are_shares_of_every_agent,
    )
    count.enough(SHARES["contributions"] // part, "Contributions", usable=part == 1)


def test_coachings(part: int) -> None:
    contribution = Contribution(value=0.2, reason="a guess")

    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await coach(
            meta_model,
            "k",
            TASK,
            worked(FIRST),
            agent="worker",
            contribution=contribution,
            share=1,
            room=ROOM,
        )

    def is_short_and_of_one_agent(coaching: Coaching) -> None:
        assert coaching.agent == "worker"
        assert 0 < len(coaching.text) <= ROOM
        assert coaching.text.count("\n") == 1

    count = hostile(examples(SHARES["coach"], part, least=20), work, is_short_and_of_one_agent)
    count.enough(SHARES["coach"] // part, "Coaching", usable=part == 1)


def check_budget(proposal: Proposal) -> None:
    kinds = [type(edit) for edit in proposal.edits]
    assert {*kinds} <= {AddAgent, RemoveAgent, AddEdge, RemoveEdge}
    assert sum(kind in {AddAgent, RemoveAgent} for kind in kinds) <= 2
    assert sum(kind in {AddEdge, RemoveEdge} for kind in kinds) <= 2
    assert {"worker", "judge"} <= {*proposal.child.agents}
    for agent in proposal.child.agents.values():
        role = ROLES.get(agent.id.removesuffix("_2"))
        born = role and replace(role, id=agent.id)
        assert agent == FIRST.agents.get(agent.id, born)


def test_restructurings(part: int) -> None:
    history = [judged(worker=0.5, critic=0.1, judge=0.5)]

    async def work(meta_model: MetaModel, _: Any) -> Any:
        given: Any = {"roles": ROLES, "dying": ["critic"], "agents": 2, "edges": 2}
        return await restructure(meta_model, "r", TASK, worked(FIRST), history, team=FIRST, **given)

    count = hostile(examples(SHARES["restructure"], part, least=20), work, check, check_budget)
    count.enough(SHARES["restructure"] // part, "Proposal", usable=part == 1)


def test_teams_of_roles(part: int) -> None:
    frame = team("frame", FIRST.agents["critic"], FIRST.agents["judge"])

    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await enlist(meta_model, "e", TASK, frame, ROLES, most=4)

    def is_of_the_catalogue(proposal: Proposal) -> None:
        assert 2 <= len(proposal.child.agents) <= 4
        assert all(agent == ROLES[agent.id] for agent in proposal.child.agents.values())

    count = hostile(examples(SHARES["enlist"], part, least=20), work, check, is_of_the_catalogue)
    count.enough(SHARES["enlist"] // part, "Proposal", usable=part == 1)
