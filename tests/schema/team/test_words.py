from collections.abc import Sequence

import pytest

from coterie.schema import Agent, Team
from coterie.schema.team.words import engine, flows, span, totals, works


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([], ""),
        (["critic"], "critic"),
        (["worker_2", "worker_1"], "worker_1..2"),
        ([f"worker_{number}" for number in range(1, 12)], "worker_1..11"),
        (["worker_1", "worker_3", "worker_4"], "worker_1, worker_3..4"),
        (["a_1", "a_2", "b_1", "b_2"], "a_1..2, b_1..2"),
        (["d1_r2", "d2_r2", "d3_r2"], "d1..3_r2"),
        ([f"d{word}_r{other}" for word in (1, 2) for other in (1, 2, 3)], "d1..2_r1..3"),
        (["w_08", "w_09", "w_10"], "w_08..10"),
        (["w_8", "w_09"], "w_8, w_09"),
        (["x_1_1", "x_2_2"], "x_1_1, x_2_2"),
        (["red", "blue"], "blue, red"),
    ],
)
def test_span_names_agents_shortly_and_leaves_none_out(ids: Sequence[str], expected: str) -> None:
    assert span(ids) == expected


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (Agent(id="a"), "llm · default"),
        (Agent(id="a", agent_type="LLM", model_id="large"), "LLM · large"),
        (Agent(id="a", agent_type="Function", function="majority"), "Function majority"),
        (Agent(id="a", backend="function", function="concat"), "function concat"),
        (Agent(id="a", agent_type="CodeAgent"), "CodeAgent · default"),
        (Agent(id="a", agent_type="CodeAgent", backend="smolagents"), "CodeAgent · default"),
        (Agent(id="a", agent_type="CodeAgent", backend="mine"), "CodeAgent on mine · default"),
        (Agent(id="a", agent_type="Unheard"), "Unheard · default"),
    ],
)
def test_works_says_what_runs_an_agent(agent: Agent, expected: str) -> None:
    assert works(Team(name="t", agents={"a": agent}), agent) == expected


def test_an_agent_without_a_type_runs_on_the_backend_of_its_team() -> None:
    agent = Agent(id="a")
    assert engine(Team(name="t", backend="mine", agents={"a": agent}), agent) == "mine"


def test_flows_hold_every_edge_once(team: Team) -> None:
    edges = [
        (item, other) for ones, others in flows(team).items() for item in ones for other in others
    ]
    assert sorted(edges) == sorted(team.edges)


def test_a_debate_is_three_flows(debate: Team) -> None:
    assert [(len(ones), len(others)) for ones, others in flows(debate).items()] == [
        (6, 6),
        (6, 6),
        (6, 1),
    ]


def test_totals_count_one_and_many(debate: Team) -> None:
    assert totals(debate) == "19 agents · 78 edges · 4 levels"
    assert totals(Team(name="t", agents={"a": Agent(id="a")})) == "1 agent · 0 edges · 1 level"
