"""Hostile answers of judge, coach and restructurer: bounds hold, teams load, all is counted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import (
    Coaching,
    Contribution,
    Contributions,
    Meta,
    Proposal,
    coach,
    contributions,
    enlist,
    restructure,
)
from coterie.schema.edits import AddAgent, AddEdge, RemoveAgent, RemoveEdge

from .asking import TASK, team
from .hostile import coachings, judgements, restructurings, teams_of_roles
from .rounds import ROLES, judged, worked
from .test_answers_hostile import FIRST, Count, check, hostile

SHARES = {"contributions": 3_000, "coach": 3_000, "restructure": 3_500, "enlist": 500}
"""How many answers each has to live through, at night."""
OF_A_DAY = 30
"""The part of them that is tried on every change."""
AGENTS = [*FIRST.agents]
ROOM = 240


def test_there_are_ten_thousand_of_them() -> None:
    assert sum(SHARES.values()) >= 10_000


@pytest.fixture
def part(nightly: bool) -> int:
    return 1 if nightly else OF_A_DAY


def examples(operator: str, part: int) -> int:
    """Many examples ask twice."""
    return max(60, SHARES[operator] * 7 // 10 // part)


def enough(count: Count, operator: str, part: int, came: type) -> None:
    assert count.answers >= SHARES[operator] // part, count.answers
    assert count.came["Dropped"] + count.came[came.__name__] == count.came.total()
    assert count.came["Dropped"] > count.came.total() / 10
    assert part > 1 or count.came[came.__name__] > 0


def test_contributions(part: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await contributions(meta, "c", TASK, worked(FIRST))

    def are_shares_of_every_agent(came: Contributions) -> None:
        assert [*came.of] == AGENTS
        for share in (came.score, *came.values.values()):
            assert 0 <= share <= 1
            assert math.isfinite(share)
        assert all(len(one.reason) <= 600 for one in (came, *came.of.values()))
        assert isinstance(came.converged, bool)

    count = hostile(
        judgements(AGENTS), examples("contributions", part), work, are_shares_of_every_agent
    )
    enough(count, "contributions", part, Contributions)


def test_coachings(part: int) -> None:
    said = Contribution(value=0.2, reason="a guess")

    async def work(meta: Meta, _: Any) -> Any:
        return await coach(
            meta, "k", TASK, worked(FIRST), agent="worker", contribution=said, share=1, room=ROOM
        )

    def is_short_and_of_one_agent(came: Coaching) -> None:
        assert came.agent == "worker"
        assert 0 < len(came.text) <= ROOM
        assert came.text.count("\n") == 1

    count = hostile(coachings(), examples("coach", part), work, is_short_and_of_one_agent)
    enough(count, "coach", part, Coaching)


def check_budget(came: Proposal) -> None:
    kinds = [type(one) for one in came.edits]
    assert {*kinds} <= {AddAgent, RemoveAgent, AddEdge, RemoveEdge}
    assert sum(kind in {AddAgent, RemoveAgent} for kind in kinds) <= 2
    assert sum(kind in {AddEdge, RemoveEdge} for kind in kinds) <= 2
    assert {"worker", "judge"} <= {*came.child.agents}
    for one in came.child.agents.values():
        role = ROLES.get(one.id.removesuffix("_2"))
        born = role and replace(role, id=one.id)
        assert one == FIRST.agents.get(one.id, born)


def test_restructurings(part: int) -> None:
    history = [judged(worker=0.5, critic=0.1, judge=0.5)]

    async def work(meta: Meta, _: Any) -> Any:
        given: Any = {"roles": ROLES, "dying": ["critic"], "agents": 2, "edges": 2}
        return await restructure(meta, "r", TASK, worked(FIRST), history, team=FIRST, **given)

    answers = restructurings(AGENTS, [*ROLES])
    count = hostile(answers, examples("restructure", part), work, check, check_budget)
    enough(count, "restructure", part, Proposal)


def test_teams_of_roles(part: int) -> None:
    frame = team("frame", FIRST.agents["critic"], FIRST.agents["judge"])

    async def work(meta: Meta, _: Any) -> Any:
        return await enlist(meta, "e", TASK, frame, ROLES, most=4)

    def is_of_the_catalogue(came: Proposal) -> None:
        assert 2 <= len(came.child.agents) <= 4
        assert all(one == ROLES[one.id] for one in came.child.agents.values())

    answers = teams_of_roles([*ROLES])
    count = hostile(answers, examples("enlist", part), work, check, is_of_the_catalogue)
    enough(count, "enlist", part, Proposal)
