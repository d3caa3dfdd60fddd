"""Fields that a team file says once for all its agents."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from coterie.schema import Team, dump, load_team, parse_team, write_yaml
from coterie.schema.command.diff import main as diff
from coterie.schema.command.fmt import main as fmt
from coterie.schema.edits import SetModel
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import TEAM_RULES, check_team
from coterie.schema.team.writing import team_value

from ...support.commands import ran
from ...support.problems import problems_of
from ..edited import made
from ..strategies import CATALOGUE, fewer, teams

SHARED = """\
# yaml-language-server: $schema=team.schema.json
name: sharing
defaults:
  agent_type: ToolCallingAgent
  model_id: fast  # for now
  tools: [read_file]
  temperature: 0.7
agents:
  solver_1:
    prompt: Solve the task.
  solver_2:
    prompt: Solve the task, then check it.
    temperature: 0
  vote:
    agent_type: Function
    tools: []
    function: majority
topology:
  reports_to:
    solver_1: [vote]
    solver_2: [vote]
"""
USUAL = {"model_id": "default", "max_tokens": 4096, "tools": []}


def parsed(text: str) -> Team:
    return parse_team(text.encode(), "team.yaml", CATALOGUE)


def test_an_agent_has_what_it_does_not_say_itself() -> None:
    agents = parsed(SHARED).agents
    assert [agent.model_id for agent in agents.values()] == ["fast"] * 3
    assert [agent.temperature for agent in agents.values()] == [0.7, 0, 0.7]
    assert [agent.tools for agent in agents.values()] == [("read_file",), ("read_file",), ()]
    assert [agent.agent_type for agent in agents.values()] == [
        *["ToolCallingAgent"] * 2,
        "Function",
    ]


@fewer(2)
@given(teams())
def test_a_team_is_the_same_with_its_agents_written_out(team: Team) -> None:
    value = team_value(team)
    agents: dict[str, dict[str, Any]] = {k: {**USUAL, **v} for k, v in value["agents"].items()}
    first, *_ = agents.values()
    everywhere = set(first).intersection(*agents.values()) - {"notes", "member"}
    value["defaults"] = {key: item for key, item in first.items() if key in everywhere}
    value["agents"] = {
        name: {k: v for k, v in agent.items() if k not in everywhere or v != first[k]}
        for name, agent in agents.items()
    }
    again = parsed(write_yaml(value))
    assert (again, again.content_hash) == (parsed(dump(team)), team.content_hash)


def test_what_is_edited_is_written_out_and_stays_a_team() -> None:
    team = made(parsed(SHARED), SetModel(agent="solver_1", model_id="default"))
    assert "defaults" not in dump(team)
    assert parsed(dump(team)) == team
    assert [agent.model_id for agent in team.agents.values()] == ["default", "fast", "fast"]


def test_a_persons_file_keeps_its_form(tmp_path: Path) -> None:
    file, other = tmp_path / "team.yaml", tmp_path / "other.yaml"
    file.write_text(SHARED, "utf-8")
    assert ran(fmt, str(file), "--check").exit_code == 0
    assert ran(fmt, str(file), "--to-file", str(other)).exit_code == 0
    assert "defaults" not in other.read_text("utf-8")
    assert ran(diff, str(file), str(other)).output == ""


def test_an_agent_file_says_more_than_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "cold.yaml").write_text("prompt: Solve it.\ntemperature: 0\n", "utf-8")
    text = "name: t\ndefaults: {temperature: 1, model_id: fast}\nagents: {a: {use: cold.yaml}}\n"
    (tmp_path / "team.yaml").write_text(text, "utf-8")
    agent = load_team(tmp_path / "team.yaml", CATALOGUE).agents["a"]
    assert (agent.temperature, agent.model_id) == (0, "fast")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "model_id: slow",
            "defaults.model_id: no model 'slow' on this host. Known: default, fast.",
        ),
        ("tools: [ghost]", "defaults.tools[0]: no tool 'ghost'. Known: "),
        ("temprature: 1", "defaults.temprature: unknown field. Did you mean 'temperature'?"),
        ("temperature: hot", "defaults.temperature: 'hot' is not a number (0 to 2). Write a num"),
        ("model: fast", "defaults.model: not a field here. Write model_id."),
        ("use: a.yaml", "defaults.use: 'use' is not a field that agents share: that is any but"),
        ("member: ada", "defaults.member: 'member' is not a field that agents share"),
        ("prompt: nowhere", "defaults.prompt: no prompt file nowhere.md."),
    ],
)
def test_a_wrong_default_is_told_once_where_it_stands(line: str, message: str) -> None:
    agents = "agents:\n  a: {}\n  b: {}\ntopology: {reports_to: {a: [b]}}\n"
    prompt = "" if line.startswith("prompt") else "  prompt: Solve the task.\n"
    text = f"name: t\ndefaults:\n  {line}\n{prompt}{agents}"
    (words,) = [
        problem for problem in problems_of(parsed, text) if "agent of type LLM" not in problem
    ]
    assert re.match(r"team.yaml:3:\d+: error: ", words)
    assert words.partition("error: ")[2].startswith(message)


def test_a_default_above_the_ceiling_is_told_where_it_stands() -> None:
    rules = (
        *TEAM_RULES,
        CapabilityPolicy(agent_types=frozenset({"ToolCallingAgent", "Function"})).rule,
    )
    _, result = check_team(SHARED.encode(), "team.yaml", CATALOGUE, rules)
    assert [str(item).partition(", ")[0] for item in result if "model" in item.message] == [
        "team.yaml:5:13: error: defaults.model_id: the model 'fast' is above the ceiling"
    ]


@pytest.mark.parametrize("field", ["model_id", "max_tokens", "temperature"])
def test_a_field_at_the_top_of_a_team_belongs_under_defaults(field: str) -> None:
    (text,) = problems_of(parsed, f"name: t\n{field}: 1\nagents: {{a: {{prompt: Solve it.}}}}\n")
    assert text.endswith(
        f"{field}: not a field here. Write it under an agent, or under defaults for all of them."
    )
