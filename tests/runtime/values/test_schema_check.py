"""Checks against a JSON Schema that cost little, and find what the library finds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators

from coterie.runtime.values.schema_check import StepBudget, TooManySteps, brief_keywords

from ...damage import bounded

BRIEF: Any = validators.extend(Draft202012Validator, brief_keywords(Draft202012Validator))
PLAIN = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "b"])
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "array", "object", "null"]),
            "enum": st.lists(PLAIN, min_size=1, max_size=3),
            "required": st.lists(st.sampled_from("ab"), max_size=2),
            "uniqueItems": st.booleans(),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "items": inner,
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "additionalProperties": st.booleans(),
        },
    ),
    max_leaves=6,
)


def problems(schema: Any, value: Any) -> set[str]:
    with StepBudget().checking():
        return {error.message for error in BRIEF(schema).iter_errors(value)}


@given(schema=SCHEMAS, value=VALUES)
def test_it_finds_what_the_library_finds(schema: Any, value: Any) -> None:
    incompletes = {error.message for error in Draft202012Validator(schema).iter_errors(value)}
    assert problems(schema, value) == incompletes


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"uniqueItems": True}}, [[{"a": number} for number in range(4_000)]]),
        ({"uniqueItems": True}, [*range(2_000), *map(str, range(2_000))]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}] * 300},
          "b": {"allOf": [{"type": "array"}] * 300}}}, []),
    ],
)  # fmt: skip
def test_it_gives_up_in_time(schema: Any, value: Any) -> None:
    with bounded(), pytest.raises(TooManySteps):
        problems(schema, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"pattern": "^(a+)+$"}},
        {"items": {"patternProperties": {"^(a+)+$": False}, "additionalProperties": False}},
        {"items": {"unevaluatedProperties": False}},
    ],
)
def test_what_could_take_for_ever_is_not_checked(schema: Any) -> None:
    with bounded():
        assert problems(schema, ["a" * 50 + "!", {"a" * 50 + "!": 1}]) == set()


def test_texts_may_be_many_and_all_different() -> None:
    texts = json.loads(json.dumps([f"{number}" for number in range(4_900)]))
    assert problems({"uniqueItems": True, "items": {"type": "string"}}, texts) == set()
    assert problems({"uniqueItems": True}, [*texts, "7"]) != set()
