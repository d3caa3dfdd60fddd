"""Schemas of tools that providers refuse are mended, or refused when the tool loads."""

import functools
from typing import Any

import pytest

from coterie.runtime.tools.tool_schema import usable_parameters
from coterie.schema import InputError

TEXT = {"type": "string"}
RING = {"A": {"anyOf": [TEXT, {"$ref": "#/$defs/B"}]}, "B": {"$ref": "#/$defs/A"}}
LADDER = {
    **{f"L{n}": {"allOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 2} for n in range(50)},
    "L50": {"anyOf": [TEXT, {"type": "object", "properties": {"q": {"$ref": "#/$defs/L0"}}}]},
}
"""Each step of it is checked twice for the one above: 2**50 ways lead down."""
DEEP = functools.reduce(lambda inner, _: {"properties": {"q": inner}}, range(900), TEXT)
EMPTY = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("schema", "mended"),
    [
        (None, EMPTY),
        ({}, EMPTY),
        ({"type": "object"}, EMPTY),
        ({"type": None, "properties": None, "required": None}, EMPTY),
        ({"type": ["object", "null"], "properties": {}}, EMPTY),
        ({"properties": {"q": TEXT}}, {"type": "object", "properties": {"q": TEXT}}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}, EMPTY),
        (
            {"properties": {"n": {"minimum": 0, "exclusiveMinimum": True, "maximum": 9}}},
            {"type": "object", "properties": {"n": {"exclusiveMinimum": 0, "maximum": 9}}},
        ),
        (
            {"properties": {"n": {"maximum": 0, "exclusiveMaximum": False}}},
            {"type": "object", "properties": {"n": {"maximum": 0}}},
        ),
    ],
)
def test_what_a_schema_leaves_out_is_added(schema: Any, mended: Any) -> None:
    assert usable_parameters(schema, "find") == mended


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"q": {"$ref": "#/$defs/Q"}}, "$defs": {"Q": TEXT}},
        {
            "type": "object",
            "properties": {"$ref": TEXT, "a~b/c": TEXT, "q": {"$ref": "#/properties/a~0b~1c"}},
        },
        {
            "type": "object",
            "properties": {"q": {"anyOf": [{"$ref": "#"}, {"$ref": "#/properties"}]}},
        },
        {"type": "object", "properties": {"q": {"$ref": "#/allOf/1"}}, "allOf": [{}, TEXT]},
        {"type": "object", "properties": {"q": {"$ref": "#/$defs/L0"}}, "$defs": LADDER},
    ],
)
def test_a_good_schema_stays_as_it_is(schema: Any) -> None:
    assert usable_parameters(schema, "find") == schema


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "of the type 'string', and models give an object only"),
        (["q"], "which is no object"),
        ({"properties": {"required": ["q"]}}, "an invalid JSON Schema"),
        ({"properties": {"q": {"$ref": "#/$defs/Q"}}}, "refer to '#/$defs/Q', which is not there"),
        ({"properties": {"q": {"$ref": "#/required/3"}}, "required": ["q"]}, "not there"),
        ({"properties": {"q": {"$ref": "https://example.org/q.json"}}}, "not there"),
        ({"description": "x" * 30_000}, "more than 20000 characters"),
        ({"properties": {"q": {"$dynamicRef": "#q"}}}, "refer to '#q', which is not there"),
        (DEEP, "its arguments are described in too many levels"),
        ({"$ref": "#"}, "its arguments refer to themselves, and to nothing else"),
        ({"allOf": [{}, {"not": {"$ref": "#"}}]}, "refer to themselves"),
        ({"properties": {"q": {"$ref": "#/$defs/A"}}, "$defs": RING}, "refer to themselves"),
    ],
)
def test_what_no_provider_takes_is_refused_when_the_tool_loads(schema: Any, words: str) -> None:
    with pytest.raises(InputError) as refused:
        usable_parameters(schema, "find")
    assert str(refused.value).startswith("the tool 'find': ")
    assert words in str(refused.value)
