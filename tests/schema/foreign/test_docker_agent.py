"""docker-agent's YAML as a team, and what of it has no counterpart."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, ConfigError, dump
from coterie.schema.foreign.docker_agent import docker_agent_team
from coterie.schema.foreign.source import Imported
from coterie.schema.foreign.taking_over import take_over
from coterie.schema.loading.loading import hostless_team
from coterie.schema.values.document import Document

from ...support.problems import problems_of

NEWSROOM = """\
#!/usr/bin/env docker agent run
version: "7"
metadata:
  description: A desk that writes about tea.
  author: Ann
providers:
  gateway:
    base_url: https://llm.example.org/v1
    token_key: GATEWAY_KEY
models:
  careful:
    provider: openai
    model: gpt-4o
    temperature: 0.2
    max_tokens: 900
    thinking_budget: low
    frequency_penalty: 0.5
  house:
    provider: gateway
    model: mixtral
    provider_opts: {x: 1}
agents:
  chief-editor:
    model: careful
    description: Chief editor
    instruction: |
      Give the piece its last form.
    sub_agents: [reporter, fact_checker]
    toolsets:
      - type: think
      - {type: mcp, ref: docker:duckduckgo}
  reporter:
    model: anthropic/claude-sonnet-4-5
    instruction: Write the piece.
    sub_agents: [fact_checker, chief-editor]
    max_iterations: 9
  fact_checker:
    model: house
    description: Fact checker
    instruction: Say which facts there are.
    structured_output:
      name: facts
      schema:
        type: object
        properties: {facts: {type: array, items: {type: string}}}
        required: [facts]
  intern:
    model: house
    instruction: Nobody asks me.
"""


def taken(folder: Path, text: str, name: str = "tea-desk.yaml") -> Imported:
    (folder / name).write_text(text, encoding="utf-8")
    return take_over(folder / name)


def told(imported: Imported) -> dict[int, str]:
    return {item.place.line: f"{item.path}: {item.message}" for item in imported.losses}


def test_agents_report_to_those_who_call_them(tmp_path: Path) -> None:
    team = taken(tmp_path, NEWSROOM).team
    assert (team.name, team.description) == ("tea_desk", "A desk that writes about tea.")
    assert dict(team.agents) == {
        "chief_editor": Agent(
            id="chief_editor",
            role="Chief editor",
            agent_type="LLM",
            model_id="careful",
            prompt="Give the piece its last form.\n",
            temperature=0.2,
            max_tokens=900,
            effort="low",
        ),
        "reporter": Agent(
            id="reporter", agent_type="LLM", model_id="claude-sonnet-4-5", prompt="Write the piece."
        ),
        "fact_checker": Agent(
            id="fact_checker",
            role="Fact checker",
            agent_type="LLM",
            model_id="house",
            prompt="Say which facts there are.",
            output_schema={
                "title": "facts",
                "type": "object",
                "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
                "required": ["facts"],
            },
        ),
    }
    assert dict(team.reports_to) == {
        "reporter": ("chief_editor",),
        "fact_checker": ("chief_editor", "reporter"),
    }
    assert team.output == "chief_editor"


def test_models_come_with_where_they_answer(tmp_path: Path) -> None:
    assert taken(tmp_path, NEWSROOM).models == {
        "careful": {"model": "openai/gpt-4o", "body": {"frequency_penalty": 0.5}},
        "claude-sonnet-4-5": {"model": "anthropic/claude-sonnet-4-5"},
        "house": {
            "model": "mixtral",
            "api_base": "https://llm.example.org/v1",
            "key_env": "GATEWAY_KEY",
        },
    }


def test_what_has_no_counterpart_is_told_with_its_line(tmp_path: Path) -> None:
    lines = NEWSROOM.splitlines()
    lost = told(taken(tmp_path, NEWSROOM))
    where = {
        "author:": "coterie has no counterpart",
        "provider_opts:": "models.house.provider_opts",
        "sub_agents: [reporter": "Here they all get the task, work before it",
        "- type: think": "the toolset 'think'",
        "- {type: mcp": "the file does not list the tools of duckduckgo",
        "sub_agents: [fact_checker, chief": "chief_editor reported to reporter, the edges",
        "max_iterations:": "makes one call",
        "intern:": "'chief-editor' never calls it",
    }
    table = {next(i for i, line in enumerate(lines, 1) if key in line): key for key in where}
    assert lost.keys() == table.keys()
    assert all(where[key] in lost[line] for line, key in table.items())


def test_a_conversation_that_is_handed_on_flows_forward(tmp_path: Path) -> None:
    text = """\
agents:
  root:
    model: auto
    instruction: Choose who knows.
    handoffs: [chemist, cook]
  chemist: {model: auto, instruction: Say what it is., handoffs: [writer]}
  cook: {model: auto, instruction: Say how it tastes.}
  writer: {model: auto, instruction: Write it down.}
"""
    imported = taken(tmp_path, text)
    team = imported.team
    assert team.output == "writer"
    assert {*team.edges} == {
        ("root", "chemist"),
        ("root", "cook"),
        ("chemist", "writer"),
        ("cook", "writer"),
    }
    assert {agent.model_id for agent in team.agents.values()} == {"default"}
    assert imported.models == {}
    assert "a team has one output, here writer" in told(imported)[7]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[reporter,", "[reporterr,", "28:18: error: agents.chief-editor.sub_agents[0]: no agent"
         " 'reporterr'. Did you mean 'reporter'?"),
        ("model: careful", "model: carefull", "24:12: error: agents.chief-editor.model: no model"
         " 'carefull' under models. Did you mean 'careful'?"),
    ],
)  # fmt: skip
def test_what_they_refuse_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert says in "".join(problems_of(taken, tmp_path, NEWSROOM.replace(old, new)))


def test_agents_from_elsewhere_are_told(tmp_path: Path) -> None:
    text = "agents:\n  root: {instruction: Greet people., sub_agents: [catalog/pirate]}\n"
    assert (
        "'catalog/pirate' is an agent of another file or registry" in told(taken(tmp_path, text))[2]
    )


def test_what_our_files_cannot_hold_is_bent_and_told(tmp_path: Path) -> None:
    text = f"""\
agents:
  "1st Agent!": {{instruction: greet, description: "{"very " * 60}long"}}
"""
    imported = taken(tmp_path, text)
    (agent,) = imported.team.agents.values()
    assert agent.id == "agent_1st_agent"
    assert agent.role == ""
    assert agent.prompt.endswith("long\n\ngreet")
    assert "a role has 200 characters at most" in told(imported)[2]


def test_a_form_that_we_do_not_check_is_left_out(tmp_path: Path) -> None:
    text = """\
agents:
  root:
    instruction: Give a date.
    structured_output:
      name: date
      schema: {type: object, properties: {day: {type: string, pattern: "[0-9]+"}}}
"""
    imported = taken(tmp_path, text)
    assert imported.team.agents["root"].output_schema is None
    assert "It is left out: properties.day.pattern: not a field here" in told(imported)[4]


def test_a_model_of_several_is_the_first_of_them(tmp_path: Path) -> None:
    text = """\
models:
  near: {provider: dmr, model: ai/qwen3}
  both: {model: "near,openai/gpt-4o"}
  wild: {provider: openai, model: x, base_url: "${env.BASE}/v1"}
agents:
  root: {model: both, instruction: Say it., sub_agents: [other]}
  other: {model: wild, instruction: Say it.}
"""
    imported = taken(tmp_path, text)
    assert imported.team.agents["root"].model_id == "near"
    assert imported.models == {
        "near": {"model": "ai/qwen3", "api_base": "http://127.0.0.1:12434/engines/v1"},
        "wild": {"model": "openai/x"},
    }
    assert "an agent has one model. This one has 'near'" in told(imported)[3]
    assert "variables in addresses are not supported" in told(imported)[4]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("temperature: 0.2", "temperature: 3", "models.careful.temperature: 3 is out of range"),
        (
            "max_tokens: 900",
            "max_tokens: lots",
            "models.careful.max_tokens: 'lots' is not a number",
        ),
        ("thinking_budget: low", "thinking_budget: lots", "'lots' is not an effort that"),
        ("thinking_budget: low", "thinking_budget: {effort: low, x: 1}", "Only its effort is kept"),
        (
            "token_key: GATEWAY_KEY",
            "token_key: a key",
            "providers.gateway.token_key: it is not the",
        ),
    ],
)
def test_only_a_misfit_field_is_lost(tmp_path: Path, old: str, new: str, says: str) -> None:
    imported = taken(tmp_path, NEWSROOM.replace(old, new))
    line = next(i for i, text in enumerate(NEWSROOM.splitlines(), 1) if old in text)
    assert says in told(imported)[line]
    assert imported.models["careful"]["model"] == "openai/gpt-4o"


@pytest.mark.parametrize(
    ("model", "fields", "settings"),
    [
        ("{type: openai, model: m}", {"model": "openai/m"}, {}),
        ("{provider: google, model: m, thinking_budget: -1}", {"model": "gemini/m"}, {}),
        ("{provider: xai, model: m, thinking_budget: 0}", {"model": "xai/m"}, {"effort": "none"}),
        (
            "{provider: x, model: m, thinking_budget: {effort: high}}",
            {"model": "x/m"},
            {"effort": "high"},
        ),
        (
            "{provider: anthropic, model: m, thinking_budget: 2048}",
            {"model": "anthropic/m", "thinking_tokens": 2048},
            {},
        ),
        (
            "{provider: anthropic, model: m, base_url: 'https://a.example.org'}",
            {"model": "m", "api_base": "https://a.example.org", "api": "anthropic"},
            {},
        ),
        (
            "{provider: mine, model: m, token_key: KEY}",
            {"model": "m", "api_base": "https://b.example.org", "api": "responses"}
            | {"key_env": "KEY"},
            {},
        ),
    ],
)
def test_a_model_answers_where_it_did(
    tmp_path: Path, model: str, fields: dict[str, Any], settings: dict[str, Any]
) -> None:
    text = f"""\
providers: {{mine: {{base_url: https://b.example.org, api_type: openai_responses}}}}
models: {{one: {model}}}
agents: {{root: {{model: one, instruction: Say it.}}}}
"""
    imported = taken(tmp_path, text)
    assert imported.models == {"one": fields}
    assert imported.team.agents["root"] == Agent(
        id="root", agent_type="LLM", model_id="one", prompt="Say it.", **settings
    )


def test_models_that_are_called_alike_stay_apart(tmp_path: Path) -> None:
    text = """\
models: {m: {provider: openai, model: x}}
agents:
  root: {model: openai/m, instruction: Say it., sub_agents: [a, b, c]}
  a: {model: m, instruction: Say it.}
  b: {model: mistral/m, instruction: Say it.}
  c: {model: m, instruction: Say it.}
"""
    imported = taken(tmp_path, text)
    named = {item: imported.models[agent.model_id] for item, agent in imported.team.agents.items()}
    assert named == {
        "root": {"model": "openai/m"},
        "a": {"model": "openai/x"},
        "b": {"model": "mistral/m"},
        "c": {"model": "openai/x"},
    }


@pytest.mark.parametrize(
    ("models", "says"),
    [
        ("{one: {provider: openai}}", "2:15: error: models.one: the model is missing"),
        ("{one: {}}", "models.one.model: the provider and the model are missing. Write both."),
        ("[one]", "error: agents.root.model: no model 'one' under models."),
    ],
)
def test_a_model_that_is_none_is_an_error(tmp_path: Path, models: str, says: str) -> None:
    text = f"version: 7\nmodels: {models}\nagents: {{root: {{model: one, instruction: Hi.}}}}\n"
    assert says in "".join(problems_of(taken, tmp_path, text))


def test_an_agent_without_words_gets_some(tmp_path: Path) -> None:
    imported = taken(tmp_path, "agents: {root: {description: Baker of bread, handoffs: []}}\n")
    assert imported.team.agents["root"].prompt == "Baker of bread"
    assert "it has no instruction" in told(imported)[1]


def test_models_that_no_agent_uses_are_kept(tmp_path: Path) -> None:
    text = """\
models:
  spare: {provider: openai, model: x, temperature: 1, thinking_budget: high, provider_opts: {a: 1}}
  pair: {model: "spare,other"}
agents:
  root: {model: xai/m, instruction: Say it., fallback: {models: [spare], retries: 3}}
  ghost: {model: spare, instruction: Boo.}
"""
    imported = taken(tmp_path, text.replace("fallback: {models: [spare], retries: 3}", "x: ''"))
    assert imported.models["spare"] == {"model": "openai/x", "effort": "high"}
    assert told(imported).keys() == {2, 3, 6}
    paths = [problem.path for problem in imported.losses]
    assert paths[:3] == ["models.spare.temperature", "models.spare.provider_opts", "models.pair"]
    kept = taken(tmp_path, text)
    alias = kept.team.agents["root"].model_id
    assert kept.models[alias] == {"model": "xai/m", "fallback": ["spare"]}
    assert "agents.root.fallback.retries" in told(kept)[5]


def test_a_form_keeps_its_own_title_and_what_differs_is_reported(tmp_path: Path) -> None:
    text = """\
agents:
  root:
    instruction: Give a date.
    add_date: false
    structured_output: {name: date, description: A day., strict: false, schema: SCHEMA}
    fallback: {models: [openai/m]}
"""
    imported = taken(tmp_path, text.replace("SCHEMA", "{type: object, title: day}"))
    form = {"type": "object", "title": "day", "description": "A day."}
    assert imported.team.agents["root"].output_schema == form
    assert {problem.path.rpartition("root.")[2] for problem in imported.losses} == {
        "structured_output.name", "structured_output.strict", "fallback"
    }  # fmt: skip
    assert "3 is not a schema" in told(taken(tmp_path, text.replace("SCHEMA", "3")))[5]


WORDS = st.sampled_from(
    ["", "a", "root", "b", "m", "openai/m", "a,b", "auto", "none", "do it", "${x}", "http://x/v1"]
)
NAMES = st.sampled_from(["root", "a", "b", "A-1", "x/y", "m", "m-2"])
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def fields(*names: str) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(names), WORDS | JUNK, max_size=6)


A_TOOLSET = fields("type", "ref", "command", "args", "tools", "env", "remote", "instruction")
AN_AGENT = fields(
    "model", "description", "instruction", "sub_agents", "handoffs", "structured_output", "fallback"
) | st.fixed_dictionaries({"toolsets": st.lists(A_TOOLSET, max_size=2)})
A_MODEL = fields("provider", "model", "temperature", "thinking_budget", "base_url", "token_key")


@given(
    st.fixed_dictionaries(
        {"agents": st.dictionaries(NAMES, AN_AGENT | JUNK, min_size=1, max_size=4)},
        optional={"models": st.dictionaries(NAMES, A_MODEL | JUNK, max_size=3) | JUNK},
    )
)
def test_whatever_stands_in_it_a_team_that_loads_comes_of_it_or_an_error(value: Any) -> None:
    document = Document(file="d.yaml", value=value, places={}, keys={})
    try:
        imported = docker_agent_team(document, "t")
    except ConfigError:
        return
    hostless_team(dump(imported.team).encode(), "team.yaml")
