"""The capability ceiling: what it lets through, and what it says of the rest."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from coterie.schema import Agent, ConfigError, Execution, InputError, Team
from coterie.schema.edits import GrantTool, RejectedEdits, SetModel, SetParameter, apply
from coterie.schema.loading.ceiling import CapabilityPolicy, load_ceiling

from ..strategies import CATALOGUE, fewer, teams

CODER = Agent(
    id="coder",
    agent_type="ToolCallingAgent",
    prompt="Solve the task.",
    tools=("read_file",),
    imports=("numpy",),
    max_tokens=512,
    max_steps=4,
    timeout=30,
)
COUNTER = Agent(id="counter", agent_type="Function", function="concat")
TEAM = Team(
    name="t",
    agents={"coder": CODER, "counter": COUNTER},
    reports_to={"coder": ("counter",)},
    execution=Execution(timeout=60, max_retries=1),
)
CEILING = CapabilityPolicy.of(TEAM)


def with_coder(**answer: object) -> Team:
    return replace(TEAM, agents={**TEAM.agents, "coder": replace(CODER, **answer)})


def excesses(team: Team, ceiling: CapabilityPolicy = CEILING) -> list[str]:
    return [f"{problem.path}: {problem.message}" for problem in ceiling.problems(team)]


def test_a_team_is_not_above_its_own_ceiling() -> None:
    assert excesses(TEAM) == []
    assert (
        CapabilityPolicy(
            tools=frozenset({"read_file"}),
            imports=frozenset({"numpy"}),
            models=frozenset({"default"}),
            agent_types=frozenset({"ToolCallingAgent", "Function"}),
            backends=frozenset({"smolagents", "function"}),
            agents=2,
            edges=1,
            max_tokens=512,
            effort="none",
            max_steps=4,
            timeout=30,
            run_timeout=60,
            max_retries=1,
            rounds=1,
            items=1,
        )
        == CEILING
    )


@pytest.mark.parametrize(
    ("team", "message"),
    [
        (
            with_coder(tools=("read_file", "shell")),
            "agents.coder.tools[1]: the tool 'shell' is above the ceiling, which allows read_file.",
        ),
        (
            with_coder(model_id="large"),
            "agents.coder.model_id: the model 'large' is above the ceiling, which allows default.",
        ),
        (
            with_coder(agent_type="CodeAgent"),
            "agents.coder.agent_type: the agent type 'CodeAgent' is above the ceiling, which allows"
            " Function, ToolCallingAgent.",
        ),
        (
            with_coder(max_tokens=513),
            "agents.coder.max_tokens: 513 tokens; the ceiling allows 512.",
        ),
        (with_coder(effort="minimal"), "agents.coder.effort: minimal; the ceiling allows none."),
        (with_coder(max_steps=5), "agents.coder.max_steps: 5 steps; the ceiling allows 4."),
        (
            with_coder(max_steps=3, planning_interval=2),
            "agents.coder.max_steps: 5 steps and plans; the ceiling allows 4.",
        ),
        (
            with_coder(imports=("numpy", "yaml")),
            "agents.coder.imports[1]: the package 'yaml' is above the ceiling, which allows numpy.",
        ),
        (
            with_coder(max_steps=None),
            "agents.coder.max_steps: missing; the ceiling allows 4 steps. Write at most that.",
        ),
        (with_coder(timeout=31), "agents.coder.timeout: 31 seconds; the ceiling allows 30."),
        (with_coder(timeout=None), "agents.coder.timeout: 60 seconds; the ceiling allows 30."),
        (
            replace(TEAM, execution=Execution(timeout=60.5, max_retries=1)),
            "execution.timeout: 60.5 seconds; the ceiling allows 60.",
        ),
        (
            replace(TEAM, execution=Execution(timeout=60, max_retries=2)),
            "execution.max_retries: 2 retries; the ceiling allows 1.",
        ),
        (
            replace(TEAM, agents={**TEAM.agents, "other": replace(COUNTER, id="other")}),
            "agents: 3 agents; the ceiling allows 2.",
        ),
        (
            replace(TEAM, reports_to={"coder": ("counter",), "counter": ("coder",)}),
            "topology: 2 edges; the ceiling allows 1.",
        ),
    ],
)
def test_every_excess_is_named(team: Team, message: str) -> None:
    assert excesses(team) == [message]


def test_a_backend_of_its_own_is_above_the_ceiling_even_under_an_allowed_type() -> None:
    assert excesses(with_coder(backend="mini-swe-agent")) == [
        "agents.coder.backend: the backend 'mini-swe-agent' is above the ceiling, which allows"
        " function, smolagents."
    ]


def test_an_unwritten_type_counts_by_its_backend() -> None:
    solver = Agent(id="a", prompt="Hm.")
    alone = Team(name="t", agents={"a": solver})
    assert excesses(alone, CapabilityPolicy()) == []
    assert excesses(replace(alone, backend="smolagents"), CapabilityPolicy()) == [
        "agents.a.agent_type: the agent type 'smolagents' is above the ceiling, which allows"
        " Function, LLM.",
        "agents.a.backend: the backend 'smolagents' is above the ceiling, which allows function,"
        " llm.",
    ]
    assert CapabilityPolicy.of(replace(alone, backend="smolagents")).max_steps is None


def test_what_spends_nothing_has_no_limits() -> None:
    counter = replace(COUNTER, model_id="large", max_tokens=900_000)
    alone = Team(name="t", agents={"counter": counter})
    assert excesses(alone, CapabilityPolicy(max_tokens=1, timeout=1)) == []


def test_an_effort_that_is_not_written_is_below_any_ceiling() -> None:
    """What a model does by itself is for the host to say, in models.yaml."""
    lazy, keen = with_coder(effort="low"), with_coder(effort="high")
    assert (
        excesses(TEAM, CapabilityPolicy.of(lazy))
        == excesses(lazy, CapabilityPolicy.of(keen, TEAM))
        == []
    )
    assert excesses(keen, CapabilityPolicy.of(lazy)) == [
        "agents.coder.effort: high; the ceiling allows low."
    ]
    assert excesses(keen, replace(CapabilityPolicy.of(lazy), effort=None)) == []


def test_a_ceiling_of_several_teams_allows_each() -> None:
    other = with_coder(model_id="large", max_tokens=100, timeout=40)
    both = CapabilityPolicy.of(TEAM, other)
    assert excesses(TEAM, both) == excesses(other, both) == []
    assert (both.max_tokens, both.timeout, both.models) == (512, 40, {"default", "large"})
    assert excesses(TEAM, CapabilityPolicy.of())


@fewer(2)
@given(teams())
def test_any_team_is_within_the_ceiling_that_is_taken_from_it(team: Team) -> None:
    assert CapabilityPolicy.of(team).problems(team) == []


def test_a_child_above_the_ceiling_is_refused_with_every_excess_and_its_place() -> None:
    edits = [
        GrantTool(agent="coder", tool="list_files"),
        SetModel(agent="coder", model_id="fast"),
        SetParameter(agent="coder", field="max_steps", value=9),
    ]
    outcome = apply(TEAM, edits, CATALOGUE, CEILING)
    assert isinstance(outcome, RejectedEdits)
    assert [f"{problem.place.line} {problem.path}" for problem in outcome.problems] == [
        "6 agents.coder.model_id",
        "8 agents.coder.tools[0]",
        "11 agents.coder.max_steps",
    ]
    assert isinstance(apply(TEAM, edits, CATALOGUE), Team)


POLICY = """\
ceiling:
  tools: [read_file]
  agent_types: [LLM, ToolCallingAgent]
  max_steps: 5
"""


def test_a_policy_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    assert load_ceiling(path) == CapabilityPolicy(
        tools=frozenset({"read_file"}),
        agent_types=frozenset({"LLM", "ToolCallingAgent"}),
        backends=frozenset({"llm", "smolagents"}),
        max_steps=5,
    )
    path.write_text("ceiling: {}\n")
    assert load_ceiling(path) == CapabilityPolicy()
    path.write_text("ceiling: {agent_types: [LLM, Own], backends: [llm, own]}\n")
    assert load_ceiling(path).backends == {"llm", "own"}


def test_a_policy_file_with_problems(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("tools: [read_file]\nceiling: {max_token: 5, agents: 0}\n")
    with pytest.raises(ConfigError) as caught:
        load_ceiling(path)
    assert [problem.message for problem in caught.value.problems] == [
        "not a field here. Write it under ceiling.",
        "unknown field. Did you mean 'max_tokens'?",
        "0 is out of range (agents, 1 to 256). Write a number in it, for instance 20.",
    ]
    with pytest.raises(InputError, match="no file"):
        load_ceiling(tmp_path / "polic.yaml")
