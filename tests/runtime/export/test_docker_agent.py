"""A team as docker-agent's YAML: read again, it is the same, but for what was told to be lost."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from coterie.runtime.export import docker_agent_text, rules_for
from coterie.runtime.plan.plan import compile as compiled
from coterie.schema import Agent, Catalogue, Execution, HostTools, Model, Team, ToolServer, dump
from coterie.schema.foreign.docker_agent import docker_agent_team
from coterie.schema.foreign.source import Imported
from coterie.schema.loading.loading import check_team, hostless_team
from coterie.schema.values.yaml_text import read_yaml

from ...schema.strategies import PROMPTS, teams

MODELS = {
    "default": Model(alias="default", model="openai/m"),
    "fast": Model(alias="fast", model="n", api_base="http://127.0.0.1:9/v1", key_env="KEY"),
}
KNOWN = Catalogue.of_host(models=MODELS)
KEPT = (
    "role", "model_id", "max_tokens", "temperature", "top_p", "effort", "output_schema", "prompt",
)  # fmt: skip
BENT_WITH = {"prompt": ("constitution", "agents.{}.notes"), "notes": (), "timeout": ()}


@st.composite
def portable(draw: DrawFn) -> Team:
    """A team of chat calls that are made once."""
    team = draw(teams())
    agents = {item: _chatting(draw, agent) for item, agent in team.agents.items()}
    return replace(team, agents=agents)


def _chatting(draw: DrawFn, agent: Agent) -> Agent:
    prompt = agent.prompt or draw(PROMPTS)
    return replace(
        agent,
        agent_type="LLM",
        backend=None,
        prompt=prompt,
        tools=(),
        function=None,
        recall=None,
        model_id=agent.model_id,
    )


def there_and_back(team: Team) -> tuple[Imported, str, set[str]]:
    _, result = check_team(dump(team).encode(), "team.yaml", KNOWN, rules_for("docker-agent"))
    assert {item.severity for item in result} <= {"warning"}
    text = docker_agent_text(compiled(team, KNOWN), {})
    document, problems = read_yaml(text.encode(), "agents.yaml")
    assert problems == []
    return docker_agent_team(document, team.name), text, {item.path for item in result}


@given(portable())
def test_a_team_comes_back_but_for_what_is_told(team: Team) -> None:
    imported, _, lost = there_and_back(team)
    back = imported.team
    hostless_team(dump(back).encode(), "back.yaml")
    assert imported.losses == ()
    assert (back.name, back.description) == (team.name, team.description)
    assert {*back.edges} == {*team.edges}
    assert back.output == team.output
    assert back.agents.keys() == team.agents.keys()
    for item, agent in team.agents.items():
        for name in KEPT:
            result, was = getattr(back.agents[item], name), getattr(agent, name)
            texts = {place.format(item) for place in BENT_WITH.get(name, ())}
            assert result == was or lost & {f"agents.{item}.{name}", *texts}, name
            assert name != "prompt" or was.strip() in result
        for name in ("notes", "timeout", "max_steps", "planning_interval", "imports", "member"):
            is_bare = getattr(agent, name) == getattr(Agent(id=item), name)
            assert is_bare or f"agents.{item}.{name}" in lost
    for name in ("constitution", "successful_tasks", "lineage"):
        assert not getattr(team, name) or name in lost
    for name in ("timeout", "on_error", "context", "max_retries", "parallel_workers"):
        is_usual = getattr(team.execution, name) == getattr(Execution(), name)
        assert is_usual or f"execution.{name}" in lost
    written = {entry.model_id for entry in team.agents.values()}
    assert imported.models == {
        alias: {
            "default": {"model": "openai/m"},
            "fast": {"model": "n", "api_base": "http://127.0.0.1:9/v1", "key_env": "KEY"},
        }[alias]
        for alias in written
    }


PAIR = Team(
    name="pair",
    description="Two heads.",
    agents={
        "solver": Agent(id="solver", prompt="Solve the task.", model_id="fast", temperature=0.5),
        "critic": Agent(
            id="critic",
            role="critic",
            prompt="Look for a mistake.",
            model_id="fast",
            effort="low",
            output_schema={"type": "object", "properties": {"ok": {"type": "boolean"}}},
        ),
    },
    reports_to={"solver": ("critic",)},
)


def test_who_answers_stands_first_and_calls_the_others() -> None:
    document, _ = read_yaml(there_and_back(PAIR)[1].encode(), "agents.yaml")
    assert list(document.value["agents"]) == ["critic", "solver"]
    critic = document.value["agents"]["critic"]
    assert critic["sub_agents"] == ["solver"]
    assert critic["instruction"].startswith("Look for a mistake.\n\nBefore you answer, hand")
    assert critic["structured_output"]["name"] == "critic"
    there = {"provider": "openai", "model": "n", "base_url": "http://127.0.0.1:9/v1"}
    limits = {"token_key": "KEY", "max_tokens": 4096}
    assert document.value["models"] == {
        "fast": {**there, **limits, "thinking_budget": "low"},
        "fast-2": {**there, **limits, "temperature": 0.5},
    }


def test_an_alias_with_a_number_is_another_model() -> None:
    agents = {
        item: replace(agent, model_id=alias)
        for (item, agent), alias in zip(PAIR.agents.items(), ("fast", "fast-2"), strict=True)
    }
    agents["third"] = replace(agents["solver"], id="third", temperature=0.1)
    team = replace(PAIR, agents=agents, reports_to=dict.fromkeys(("solver", "third"), ("critic",)))
    models = {**MODELS, "fast-2": Model(alias="fast-2", model="openai/other")}
    known = Catalogue.of_host(models=models)
    document, _ = read_yaml(docker_agent_text(compiled(team, known), {}).encode(), "agents.yaml")
    assert list(document.value["models"]) == ["fast-2", "fast", "fast-3"]
    assert document.value["models"]["fast-3"]["temperature"] == 0.1


def test_tools_come_back_as_toolsets() -> None:
    clock = ToolServer(name="clock", command=("npx", "clock"), env=("KEY",), tools=("now", "zone"))
    wiki = ToolServer(name="wiki", url="https://w.example/mcp", key_env="W", tools=("find",))
    tools = ("list_files", "read_file", "clock.now", "wiki.find")
    agents = {
        "reader": Agent(
            id="reader", agent_type="ToolCallingAgent", prompt="Read.", tools=tools, max_steps=7
        ),
        "coder": Agent(id="coder", agent_type="DefaultAgent", prompt="Code.", max_steps=9),
        "chief": Agent(id="chief", agent_type="LLM", prompt="Judge."),
    }
    edges = dict.fromkeys(("reader", "coder"), ("chief",))
    team = replace(PAIR, agents=agents, reports_to=edges)
    servers = {"clock": clock, "wiki": wiki}
    known = KNOWN.having(HostTools(servers=servers))
    text = docker_agent_text(compiled(team, known), servers)
    imported = docker_agent_team(read_yaml(text.encode(), "agents.yaml")[0], team.name)
    assert imported.losses == ()
    assert {name: imported.team.agents[name] for name in agents} == agents
    assert imported.servers == {
        "clock": {"command": ["npx", "clock"], "env": ["KEY"], "tools": ["now"]},
        "wiki": {"url": "https://w.example/mcp", "key_env": "W", "tools": ["find"]},
    }


@pytest.mark.skipif(
    "MAS_DOCKER_AGENT_SCHEMA" not in os.environ,
    reason="MAS_DOCKER_AGENT_SCHEMA names no agent-schema.json of docker-agent",
)
@given(portable())
def test_it_fits_the_schema_of_docker_agent(team: Team) -> None:
    from jsonschema import Draft7Validator

    schema: Any = json.loads(Path(os.environ["MAS_DOCKER_AGENT_SCHEMA"]).read_text("utf-8"))
    document, _ = read_yaml(there_and_back(team)[1].encode(), "agents.yaml")
    assert [error.message for error in Draft7Validator(schema).iter_errors(document.value)] == []
