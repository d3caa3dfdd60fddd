"""The schema that a model is held to: its form, and what it offers."""

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coterie.schema import Agent, Catalogue, Model, Team, load_team
from coterie.schema.edits import (
    COMPONENTS,
    Component,
    apply,
    component_schema,
    components,
    edits_from_json,
)
from coterie.schema.loading.ceiling import CapabilityPolicy

from ..decoder import answer
from ..test_applying import llm, team

CATALOGUE = Catalogue.of_host(
    models={alias: Model(alias=alias, model=f"openai/{alias}") for alias in ("fast", "large")}
)
TEAMS = [
    load_team(f"seeds/{name}.yaml", CATALOGUE)
    for name in ("debate", "majority_vote", "metagpt", "single_agent", "translate_and_calculate")
]
STRICT = {
    *("type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"),
    *("minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern"),
}
"""The keywords that strict decoding knows everywhere."""


def closed(schema: Any) -> bool:
    """Whether every object has all its fields required and no others."""
    if isinstance(schema, list):
        return all(map(closed, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and "properties" in schema:
        whole = schema["required"] == list(schema["properties"])
        if schema["additionalProperties"] is not False or not whole:
            return False
    return all(map(closed, schema.values()))


def keywords(schema: Any) -> set[str]:
    """The keywords of a schema; names of properties are none."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [schema.get("items"), schema.get("anyOf"), [*schema.get("properties", {}).values()]]
    return set(schema).union(*map(keywords, inner))


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("parent", TEAMS, ids=lambda parent: parent.name)
def test_answers_edit_the_component(component: Component, parent: Team, nightly: bool) -> None:
    for most in (1, 4):
        schema = component_schema(component, parent, CATALOGUE, most=most)
        if schema is None:
            assert (component, parent.name) in NOTHING_TO_CHOOSE
            continue
        assert keywords(schema) <= STRICT
        assert closed(schema)
        Draft202012Validator.check_schema(schema)
        chance = random.Random(f"{component} {parent.name} {most}")
        for _ in range(8 if nightly else 1):
            said = answer(schema, chance)
            Draft202012Validator(schema).validate(said)
            edits = edits_from_json(json.dumps(said), component=component)
            assert components(edits) == {component}
            result = apply(parent, edits, CATALOGUE)
            assert isinstance(result, Team), (said, result)


NOTHING_TO_CHOOSE = {
    ("tools", "metagpt"),
    ("tools", "translate_and_calculate"),
    ("tools", "single_agent"),
    ("topology", "single_agent"),
}


def choices(component: Component, parent: Team, ceiling: CapabilityPolicy | None = None) -> str:
    return json.dumps(component_schema(component, parent, CATALOGUE, ceiling))


def test_only_what_the_ceiling_allows_is_offered() -> None:
    workers = TEAMS[1]
    ceiling = CapabilityPolicy(
        models=frozenset({"fast", "gone"}),
        tools=frozenset({"read_file", "shell"}),
        max_tokens=512,
        timeout=30,
        run_timeout=60,
        max_retries=1,
        agents=7,
        edges=6,
    )
    assert "large" in choices("model_id", workers)
    assert "large" not in choices("model_id", workers, ceiling)
    assert "gone" not in choices("model_id", workers, ceiling)
    assert '"maximum": 512' in choices("parameters", workers, ceiling)
    assert '"maximum": 60}' in choices("parameters", workers, ceiling)
    assert "add_agent" in choices("roster", workers)
    assert "add_agent" not in choices("roster", workers, ceiling)
    assert "add_edge" in choices("topology", workers)
    assert "add_edge" not in choices("topology", workers, ceiling)
    assert "shell" not in choices("tools", team())


def test_tools_are_offered_only_where_they_can_be_used() -> None:
    solver = Agent(id="a", agent_type="ToolCallingAgent", prompt="Hm.", tools=("read_file",))
    parent = Team(name="t", agents={"a": solver, "j": llm("j")}, reports_to={"a": ("j",)})
    few = CATALOGUE.granting(frozenset({"list_files", "read_file", "search_text"}))
    schema = component_schema("tools", parent, few)
    assert schema
    grant, revoke = schema["properties"]["edits"]["items"]["anyOf"]
    fields = grant["properties"]["grant_tool"]["properties"]
    assert fields["agent"]["enum"] == ["a"]
    assert fields["tool"]["enum"] == ["list_files", "search_text"]
    assert revoke["properties"]["revoke_tool"]["properties"]["tool"]["enum"] == ["read_file"]


def test_an_edge_of_every_agent_is_held_however_many_edits_there_are() -> None:
    chain = team("ab", "bj", "aj")
    word = '"remove_edge": {"type": "object", "properties": {"sender": {"type": "string", "enum": ['
    assert f'{word}"a"]}}, "receiver": {{"type": "string", "enum": ["b", "j"]}}' in choices(
        "topology", chain
    )
    several = json.dumps(component_schema("topology", chain, CATALOGUE, most=2))
    assert f'{word}"a"]}}, "receiver": {{"type": "string", "enum": ["j"]}}' in several


@pytest.mark.parametrize(
    "fields",
    [
        {"agent_type": "Function", "function": "majority"},
        {"agent_type": "Person", "prompt": "Approve it."},
    ],
)
def test_a_team_of_functions_or_persons_asks_no_model(fields: Mapping[str, Any]) -> None:
    agents = {name: Agent(id=name, **fields) for name in "ab"}
    parent = Team(name="t", agents=agents, reports_to={"a": ("b",)})
    for component in ("prompts", "model_id", "tools", "topology"):
        assert component_schema(component, parent, CATALOGUE) is None
    assert "set_parameter" not in choices("parameters", parent)
    assert "Person" not in choices("roster", parent)


def test_agents_that_answer_with_a_patch_are_offered_no_labels() -> None:
    parent = Team(name="t", agents={"a": Agent(id="a", agent_type="DefaultAgent", prompt="Hm.")})
    assert "max_steps" in choices("parameters", parent)
    assert "output_schema" not in choices("parameters", parent)
