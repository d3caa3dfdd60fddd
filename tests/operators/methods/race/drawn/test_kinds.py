"""What holds for proposals of every kind, and which kinds have something for which team."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators.methods.race.ceiling import allowed_by_default
from coterie.operators.methods.race.drawn import KINDS
from coterie.schema import Team
from coterie.schema.edits import apply

from .....support.shares import every
from ....asking import catalogue, seed
from .drawing import SOLO, drawn

TEAMS = [
    SOLO,
    *map(seed, ("majority_vote_3", "translate_and_calculate", "write_and_revise")),
    *map(seed, ("code_repair", "teaching", "workshop")),
]
FIRST = 4
"""Proposals of a kind that are looked at."""


@pytest.mark.parametrize(
    ("kind", "of"),
    every(5, itertools.product(KINDS, TEAMS)),
    ids=lambda value: value.name if isinstance(value, Team) else value,
)
def test_proposals_are_valid_distinct_and_the_same_for_the_same_chance(kind: str, of: Team) -> None:
    proposals = drawn(kind, of, most=FIRST)
    assert proposals == drawn(kind, of, most=FIRST)
    hashes = {of.content_hash, *(proposal.child.content_hash for proposal in proposals)}
    assert len(hashes) == 1 + len(proposals)
    for proposal in proposals:
        child = proposal.child
        assert proposal.operator == f"race_{kind}"
        assert proposal.reason.endswith(".")
        assert child.name == of.name
        assert allowed_by_default(of).problems(child) == []
        assert apply(of, proposal.edits, catalogue()) == child


FOR_SOLO = {"examples", "answer_form", "calculator", "vote", "check", "seed", "max_tokens"}


def test_a_single_agent_is_offered_all_that_needs_no_right() -> None:
    assert {kind for kind in KINDS if drawn(kind, most=1)} == {*FOR_SOLO, "temperature"}


def test_what_a_person_allows_is_offered() -> None:
    wider = replace(
        allowed_by_default(SOLO),
        models=frozenset({"default", "fast"}),
        tools=frozenset({"read_file"}),
        agent_types=frozenset({"LLM", "ToolCallingAgent", "Function"}),
        backends=frozenset({"llm", "smolagents", "function"}),
        max_steps=10,
    )
    (model,) = drawn("model", ceiling=wider)
    (tool,) = drawn("tool", ceiling=wider)
    assert model.child.agents["solver"].model_id == "fast"
    assert tool.child.agents["solver"].tools == ("read_file",)
    assert [other.child.agents["checker"].model_id for other in drawn("check", ceiling=wider)] == [
        "default",
        "fast",
    ]


@pytest.mark.parametrize("of", TEAMS, ids=lambda team: team.name)
def test_the_default_ceiling_grants_no_right(of: Team) -> None:
    ceiling = allowed_by_default(of)
    asking: Any = [agent for agent in of.agents.values() if of.backend_of(agent) != "function"]
    assert ceiling.problems(of) == []
    assert ceiling.tools == {tool for agent in asking for tool in agent.tools}
    assert ceiling.imports == {package for agent in asking for package in agent.imports}
    assert ceiling.models == {agent.model_id for agent in asking}
    assert ceiling.backends == {of.backend_of(agent) for agent in asking} | {"llm", "function"}
    assert ceiling.agents == len(of.agents) + 6
    assert ceiling.max_tokens == 2 * max(agent.max_tokens for agent in asking)
