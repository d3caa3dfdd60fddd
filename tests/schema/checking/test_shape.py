"""The schemas and the messages that come of them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from coterie.schema.checking._shape import MESSAGES, shape_problems, shape_schema, sound
from coterie.schema.values.document import Document
from coterie.schema.values.hints import did_you_mean
from coterie.schema.values.yaml_text import read_yaml

NAMES = ("team", "task", "models", "tools")
SILENT = {
    "$defs", "$id", "$ref", "$schema", "default", "description", "examples", "title", "items",
    "properties", "propertyNames", "additionalProperties", "required", "if", "then",
}  # fmt: skip
"""Keywords that describe, that lead to other schemas, or that have messages of their own."""


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs"):
        for inner in schema.get(key, {}).values():
            yield from parts(inner)
    for key in ("items", "propertyNames", "additionalProperties"):
        yield from parts(schema.get(key))


def document(text: str) -> Document:
    return read_yaml(text.encode(), "f")[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_keyword_of_our_schemas_has_a_message(name: str) -> None:
    used = {key for part in parts(shape_schema(name)) for key in part}
    assert {key for key in used if not key.startswith("x-")} <= SILENT | set(MESSAGES)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_follows_its_own_rule(name: str) -> None:
    for part in parts(shape_schema(name)):
        if pattern := part.get("pattern"):
            assert part["x-rule"]
            assert all(re.fullmatch(pattern, example) for example in part["examples"])


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("topolgy", " Did you mean 'topology'?"),
        ("LLM", " Did you mean 'llm'?"),
        ("STRASSE", " Did you mean 'straße'?"),
        ("nothing", ""),
    ],
)
def test_the_nearest_word_is_suggested(word: str, hint: str) -> None:
    assert did_you_mean(word, ["topology", "llm", "straße"]) == hint


def test_an_id_with_a_line_end_is_none() -> None:
    (problem,) = shape_problems(document('name: "t\\n"\nagents: {a: {}}'), "team")
    assert problem.message.startswith(r"'t\n' is not an id: ")


def test_one_and_true_are_not_the_same() -> None:
    schema = "name: t\nagents: {a: {output_schema: {required: [%s]}}}"
    assert len([*shape_problems(document(schema % '"1", "1"'), "team")]) == 1
    report = [problem.message for problem in shape_problems(document(schema % "1, true"), "team")]
    assert report == [f"{word} is not text. Write it in quotes, or text." for word in ("1", "true")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("role: ''", "0 characters are too few: at least 1."),
        (f"role: {'x' * 201}", "201 characters are too many: at most 200."),
        ("temperature: hot", "'hot' is not a number (0 to 2). Write a number, for instance 0.7."),
        ("temperature: 3", "3 is out of range (0 to 2). Write a number in it, for instance 0.7."),
        (
            "output_schema: {additionalProperties: 1}",
            "1 is not true or false. Write true or false.",
        ),
        ("output_schema: {enum: []}", "0 values are too few: at least 1."),
        (
            f"output_schema: {{properties: {{{'x' * 129}: {{}}}}}}",
            "129 characters are too many: at most 128.",
        ),
        ("output_schema: {items: 5}", "5 is not a mapping. Write a mapping."),
        ("tools: [A b]", "'A b' is not the name of a tool. Write for instance a_b."),
        ("tools: [漢]", "'漢' is not the name of a tool. Write for instance read_file."),
        ("model_id: a b", "'a b' is not the alias of a model. Write for instance default."),
    ],
)
def test_a_message_has_the_rule_the_value_and_what_to_write(fields: str, message: str) -> None:
    problems = shape_problems(document(f"name: t\nagents: {{a: {{{fields}}}}}"), "team")
    assert [problem.message for problem in problems] == [message]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("name: T\nagents: {a: {}}", {"agents": {"a": {}}}),
        ("agents: {a: {x: 1, role: r}, B: {}}", {"agents": {"a": {"role": "r"}}}),
        ("agents: {a: {tools: [b, 5]}}", {"agents": {"a": {"tools": ["b", None]}}}),
        ("name: t\nagents: {a: 5}\nx: {y: z}", {"name": "t", "agents": {}}),
        ("name: t\nagents: []", {"name": "t"}),
        ("[1]", [1]),
        ("agents: {A: {max_tokens: 0}}", {"agents": {}}),
        ("a: 1", {}),
    ],
)  # fmt: skip
def test_what_is_sound_stays(text: str, left: Any) -> None:
    assert sound(document(text), "team") == left
