"""Edits as JSON: written and read back, and what is said of JSON that is no list of edits."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

from coterie.schema import Agent, ConfigError, Execution, Team
from coterie.schema.checking._shape import shape_schema
from coterie.schema.edits import (
    KINDS,
    AddAgent,
    Edit,
    GrantTool,
    ReplaceTopology,
    SetExecution,
    SetModel,
    SetNote,
    SetOutput,
    SetParameter,
    SetPrompt,
    apply,
    edits_from_json,
    edits_to_json,
    edits_to_values,
)
from coterie.schema.edits._claims import settled
from coterie.schema.edits.components import AGENT_FIELDS, TEAM_FIELDS
from coterie.schema.edits.kinds.kind import tag

from ...support.problems import problems_of
from ..strategies import CATALOGUE, VALUES, fewer
from .strategies import teams_and_edits


@fewer(2)
@given(teams_and_edits())
def test_what_is_read_is_what_was_written(drawn: tuple[Team, list[Edit]]) -> None:
    parent, edits = drawn
    if isinstance(apply(parent, edits, CATALOGUE), Team):
        assert settled(edits) == tuple(edits)
    report = edits_to_json(settled(edits))
    with suppress(ConfigError):  # some make no sense
        assert edits_to_json(edits_from_json(edits_to_json(edits))) == report


def read(*edits: Any) -> tuple[Edit, ...]:
    return edits_from_json(json.dumps({"edits": edits}))


def test_of_statements_about_the_same_thing_the_last_counts() -> None:
    first, last = ({"set_model": {"agent": "a", "model_id": word}} for word in ("m", "n"))
    role = {"set_role": {"agent": "a", "role": "judge"}}
    assert read(first, role, last) == read(last, role)
    assert read(first, first) == read(first)


def test_of_an_agent_that_leaves_nothing_else_counts_unless_a_new_one_needs_it() -> None:
    leave = {"remove_agent": {"agent": "a"}}
    about = [
        {"set_prompt": {"agent": "a", "prompt": "Go on."}},
        {"add_edge": {"sender": "b", "receiver": "a"}},
        {"remove_edge": {"sender": "a", "receiver": "c"}},
        {"set_parameter": {"agent": "a", "max_tokens": 9}},
    ]
    assert read(*about, leave) == read(leave)
    new = {"add_agent": {"agent": "n", "fields": {}, "place": {"receives_from": ["a"]}}}
    assert read(leave, about[0], new) == read(about[0], new)
    rename = {"rename_agent": {"agent": "b", "id": "a"}}
    assert len(read(leave, rename, about[0])) == 3


def test_of_new_outputs_the_last_counts_and_what_new_agents_name_twice_counts_once() -> None:
    fields = {"tools": ["t", "t"]}
    record, two = (
        {"add_agent": {"agent": name, "fields": fields, "place": {"is_output": is_output}}}
        for name, is_output in (("m", True), ("n", True))
    )
    first, last = read(record, two)
    assert isinstance(first, AddAgent)
    assert isinstance(last, AddAgent)
    assert (first.is_output, last.is_output) == (False, True)
    assert first.agent.tools == ("t",)
    [new] = read(
        {"add_agent": {"agent": "n", "fields": {}, "place": {"reports_to": ["a", "b", "a"]}}}
    )
    assert new == AddAgent(agent=Agent(id="n"), reports_to=("a", "b"))


@given(VALUES)
def test_any_other_json_is_refused_with_reasons(value: Any) -> None:
    assert problems_of(edits_from_json, json.dumps({"edits": [value]}))


@pytest.mark.parametrize(
    ("edit", "value"),
    [
        (SetPrompt(agent="a", prompt="Hm."), {"set_prompt": {"agent": "a", "prompt": "Hm."}}),
        (
            SetParameter(agent="a", field="timeout", value=9),
            {"set_parameter": {"agent": "a", "timeout": 9}},
        ),
        (
            SetParameter(agent="a", field="temperature", value=None),
            {"set_parameter": {"agent": "a", "temperature": None}},
        ),
        (SetExecution(field="timeout", value=9), {"set_execution": {"timeout": 9}}),
        (SetNote(agent=None, note="constitution", text="x"), {"set_note": {"constitution": "x"}}),
        (
            SetNote(agent="a", note="patch", name="units"),
            {"set_note": {"agent": "a", "note": "patch", "name": "units", "text": ""}},
        ),
        (
            SetNote(agent="a", note="skill", name="sum", text="Add.", description="Sums."),
            {
                "set_note": {
                    "agent": "a",
                    "note": "skill",
                    "name": "sum",
                    "text": "Add.",
                    "description": "Sums.",
                }
            },
        ),
        (SetOutput(agent=None), {"set_output": {"agent": None}}),
        (
            ReplaceTopology(reports_to={"a": ("b",)}),
            {"replace_topology": {"reports_to": {"a": ["b"]}}},
        ),
        (
            AddAgent(agent=Agent(id="a", prompt="Hm.", max_steps=3), reports_to=("b",)),
            {
                "add_agent": {
                    "agent": "a",
                    "fields": {"prompt": "Hm.", "max_steps": 3},
                    "place": {"reports_to": ["b"]},
                }
            },
        ),
    ],
)
def test_the_form_is_short(edit: Edit, value: dict[str, Any]) -> None:
    assert edits_to_values([edit]) == [value]
    assert edits_from_json(json.dumps({"edits": [value]})) == (edit,)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            '{"set_modl": {}}',
            "edits:1:13: error: edits[0].set_modl: unknown field. Did you mean 'set_model'?",
        ),
        ("{}", "edits:1:12: error: edits[0]: 0 kinds in one edit are too few: at least 1."),
        (
            '{"set_model": {"agent": "W 1", "model_id": "m"}}',
            "edits:1:36: error: edits[0].set_model.agent: 'W 1' is not an id: a lower-case letter,"
            " then lower-case letters, digits or _, at most 64 characters. Write for instance w_1.",
        ),
        (
            '{"set_parameter": {"agent": "a", "prompt": "x"}}',
            "edits:1:45: error: edits[0].set_parameter.prompt: unknown field. Fields here: agent,"
            " agent_type, imports, files, function, max_tokens, temperature, top_p, effort,"
            " max_steps, planning_interval, timeout, output_schema, backend, when, reads, each,"
            " recall.",
        ),
        (
            '{"set_parameter": {"agent": "a"}}',
            "edits:1:30: error: edits[0].set_parameter: 1 fields are too few: at least 2.",
        ),
        (
            '{"add_agent": {"agent": "a", "fields": {"api_base": "http://evil"}}}',
            "edits:1:52: error: edits[0].add_agent.fields.api_base: not a field here. A team file"
            " never names an endpoint: define an alias in models.yaml or with --model, and write it"
            " in model_id.",
        ),
    ],
)
def test_problems_are_listed_as_loading_lists_them(edit: str, message: str) -> None:
    assert problems_of(edits_from_json, f'{{"edits": [{edit}]}}') == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"edits": [', "edits:1:12: error: not JSON: expecting value."),
        ("[]", "edits:1:1: error: [] is not a mapping. Write a mapping with edits."),
        ("{}", "edits:1:1: error: edits is missing. The edits."),
        ("\ud800", "edits:1:1: error: the byte 0xed is not UTF-8. Save the file as UTF-8."),
    ],
)
def test_what_is_no_document_is_refused(text: str, message: str) -> None:
    assert problems_of(edits_from_json, text) == [message]


def test_edits_of_other_components_are_refused() -> None:
    edits = [SetModel(agent="a", model_id="m"), GrantTool(agent="a", tool="read_file")]
    text = edits_to_json(edits)
    assert problems_of(edits_from_json, text, component="tools", file="answer") == [
        "answer:1:13: error: edits[0].set_model: it edits model_id; here only tools may be edited."
        " Leave it out."
    ]
    assert edits_from_json(edits_to_json(edits[1:]), component="tools") == (edits[1],)
    assert problems_of(edits_from_json, '{"edits": 3}', component="tools")
    assert problems_of(edits_from_json, "[3]", component="tools")


def test_the_schema_has_every_kind_and_every_field() -> None:
    kinds = shape_schema("edits")["$defs"]["edit"]["properties"]
    assert set(kinds) == {tag(kind) for kind in KINDS}
    parameters = {field for field, owner in AGENT_FIELDS.items() if owner == "parameters"}
    assert set(kinds["set_parameter"]["properties"]) == {"agent", *parameters}
    metadata = {field for field, owner in TEAM_FIELDS.items() if owner == "metadata"}
    assert set(kinds["set_metadata"]["properties"]) == metadata
    execution = shape_schema("team")["properties"]["execution"]["properties"]
    assert set(execution) == {*Execution.__dataclass_fields__}
