"""Hostile answers of who writes personas: nobody may do more, nobody else changes, all counted."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import MetaModel, operator_of
from coterie.operators.methods.evochamber.lifecycle.roster import LONGEST_PERSONA, LONGEST_TITLE
from coterie.operators.methods.evochamber.lifecycle.rules import Fired, LifecycleEvent
from coterie.pool import Pool
from coterie.pool.ledger.changes import Added, Retired, Revised
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema import Agent, Team, dump
from coterie.schema.loading.loading import check_team

from .....support.hostile_answers import CATALOGUE, CEILING, FIRST, examples, hostile
from ....evolving import asked
from .test_lifecycle import TOWN, after, lines, roster, told

ASKING: tuple[Fired, ...] = ("fork", "merge", "genesis", "specialize")
EACH = 2_500
"""How many answers each has to live through, at night."""
WORKER, CRITIC = (
    replace(FIRST.agents[name], prompt=f"You are [{name}].\n\nAnswer in one word.\n\nBe kind.")
    for name in ("worker", "critic")
)
OF: dict[Fired, tuple[Agent, ...]] = {
    "fork": (WORKER,),
    "merge": (CRITIC, WORKER),
    "genesis": (CRITIC,),
    "specialize": (WORKER,),
}


@pytest.mark.parametrize("operator", ASKING)
def test_personas(operator: Fired, part: int) -> None:
    first, *_ = agents = OF[operator]
    names = () if operator == "genesis" else tuple(agent.id for agent in agents)
    event = LifecycleEvent(operator=operator, agents=names, why="0.9 is enough", niche="sums")

    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await operator_of(operator).act(meta_model, "p", event, agents, ["How many?"])

    def are_about_those_and_nobody_else(outcome: Any) -> None:
        result, *rest = outcome
        assert rest == [
            Retired(member=name, reason="merged: 0.9 is enough")
            for name in (names if operator == "merge" else ())
        ]
        if operator == "specialize":
            assert isinstance(result, Revised)
            assert result.agent == first.id
            is_the_same_but_for_its_persona(result.to)
            return
        assert isinstance(result, Added)
        assert (result.lineage.operator, result.lineage.parents) == (operator, names)
        assert result.inherits == names
        assert result.name is None
        assert result.lineage.reason.startswith("0.9 is enough")
        is_the_same_but_for_its_persona(result.member)

    def is_the_same_but_for_its_persona(agent: Any) -> None:
        assert replace(agent, role=first.role, prompt=first.prompt) == first
        assert 0 < len(agent.role) <= LONGEST_TITLE
        persona, *stays = agent.prompt.split("\n\n")
        assert 0 < len(persona) <= LONGEST_PERSONA
        assert "\n" not in agent.role + persona
        assert stays == ["Answer in one word.", "Be kind."]
        alone = Team(name=agent.id, agents={agent.id: agent})
        loaded, problems = check_team(dump(alone).encode(), "one.yaml", CATALOGUE)
        assert (loaded, problems) == (alone, [])
        assert CEILING.problems(alone) == []

    count = hostile(examples(EACH, part, least=15), work, are_about_those_and_nobody_else)
    count.enough(EACH // part, "tuple", usable=part == 1, refused=0.001)


def test_a_town_answered_so_stays_one_and_all_is_counted(tmp_path: Path, nightly: bool) -> None:
    for number in range(200 if nightly else 2):
        chance = random.Random(number)

        def nasty(request: Request, chance: random.Random = chance) -> Reply:
            fields = {"reason": "r", "title": "t", "persona": "You {{ dig }}.", "tools": ["shell"]}
            kept = {key: fields[key] for key in fields if chance.random() < 0.85}
            return Reply.json(kept) if asked(request) else Reply(text="7")

        lived = after(tmp_path / str(number), nasty)
        pool = Pool.open(lived.pool.folder)
        lost = {name: pool.rejections.get(name, 0) for name in ASKING}
        happened = [fields["operator"] for fields in told(pool)]
        born = sum(line["kind"] == "born" for line in lines(pool))
        assert all(lost[name] + happened.count(name) == 1 for name in ("fork", "genesis"))
        assert lost["specialize"] + happened.count("specialize") == 1
        assert happened.count("merge") == happened.count("prune") == 1
        assert len(roster(lived)) == len(TOWN) - 3 + born
        for agent in pool.agents.values():
            assert (agent.agent.tools, agent.agent.model_id) == ((), "default")
