"""JSON in models' answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.values.bounds import LONGEST_STRUCTURED
from coterie.runtime.values.structured import answer_in, json_in, parse_structured
from coterie.schema.values.values import is_mapping

from ...damage import bounded

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "7"}', {"answer": "7"}),
        ('```json\n{"answer": "7"}\n```', {"answer": "7"}),
        ('The answer is {"answer": "7"}, I think.', {"answer": "7"}),
        ("Take {this} or [1, 2].", [1, 2]),
        (" 42 ", 42),
        ("So:\n```json\n42\n```", 42),
        ('Of the form {"answer": "x"}. So:\n```json\n{"answer": "7"}\n```\nDone.', {"answer": "7"}),
        ('{"answer": "7"} as in [1]', {"answer": "7"}),
        ('{"answer": "1"}\n{"answer": "7"}', {"answer": "7"}),
        ('{"answer": "7", "of": {"answer": "1"}} it is', {"answer": "7", "of": {"answer": "1"}}),
        ("{} {} {x} {y} " * 30 + '{"answer": "7"}', {"answer": "7"}),
    ],
)
def test_json_in_finds_the_value(text: str, value: object) -> None:
    assert json_in(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "none", "{a: 1}", "NaN", "[" * 100_000, 'so {"a": {"answer": 4}, ', '{"a": [{}], "b": "'],
)
def test_json_in_refuses_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON"):
        json_in(text)


def test_the_last_value_that_fits_is_the_answer() -> None:
    text = 'A form is {"answer": "x"}, say {"answer": "7"}. See {"steps": [{"answer": "1"}]}.'
    assert parse_structured(text, SCHEMA) == ({"answer": "7"}, [])
    assert json_in(text, is_mapping) == {"steps": [{"answer": "1"}]}


def test_where_no_value_fits_the_last_object_is_what_is_told_of() -> None:
    value, problems = parse_structured('{"answer": 1} or {"answer": 7}, see [1]', SCHEMA)
    assert (value, problems) == ({"answer": 7}, ["answer: 7 is not of type 'string'"])


def test_a_part_of_an_answer_that_was_cut_off_is_no_answer() -> None:
    assert parse_structured('{"all": [{"answer": "7"}, {"answer": "8"}', SCHEMA)[0] is None


VALUES = st.dictionaries(
    st.text("abc{}[]\"'`\n\\", max_size=4), st.integers() | st.text(max_size=4)
)


@given(VALUES, st.text("abc .,:\n`", max_size=20), st.text("abc .,:\n`", max_size=20), VALUES)
def test_an_answer_between_prose_is_found_whatever_comes_ahead(
    answer: dict[str, object], before: str, after: str, tried: dict[str, object]
) -> None:
    wanted = {**answer, "answer": "7"}
    schema = {"type": "object", "required": ["answer"]}
    text = f"{before} {json.dumps(tried)} {before} {json.dumps(wanted)}"
    assert parse_structured(text + after, schema) == (wanted, [])


@given(st.text(max_size=200))
def test_any_text_is_a_value_or_a_problem(text: str) -> None:
    value, problems = parse_structured(text, SCHEMA)
    assert problems or value["answer"] is not None


def test_problems_are_sentences_that_name_the_field() -> None:
    assert parse_structured('{"answer": 7}', SCHEMA)[1] == ["answer: 7 is not of type 'string'"]
    assert parse_structured("well", SCHEMA)[1] == ["it is not JSON: 'well'"]


def test_the_answer_field_is_the_answer() -> None:
    assert answer_in({"answer": "7", "why": "because"}) == (
        '{"answer": "7", "why": "because"}',
        "7",
    )
    assert answer_in({"answer": 7}) == ('{"answer": 7}', "7")
    assert answer_in({"label": "x"}) == ('{"label": "x"}', None)
    assert answer_in([1]) == ("[1]", None)


def test_an_answer_nested_to_the_limit_is_a_problem_and_no_crash() -> None:
    schema = {"type": "object", "properties": {"answer": {}}, "additionalProperties": False}
    for depth in (900, 985, 995, 5_000):
        text = '{"answer": ' + "[" * depth + "]" * depth + "}"
        value, problems = parse_structured(text, schema)
        assert problems or value is not None


def test_what_is_too_long_is_not_read() -> None:
    at_most = json.dumps({"answer": "a" * (LONGEST_STRUCTURED - 14)})
    assert (len(at_most), parse_structured(at_most, SCHEMA)[1]) == (LONGEST_STRUCTURED, [])
    value, (problem,) = parse_structured(f"{at_most} ", SCHEMA)
    assert value is None
    assert problem.startswith("it is too long: 262,145 characters")


def held_against(times: int) -> dict[str, Any]:
    """A schema of which each value is held against ever more schemas, and fits the last."""
    if times == 0:
        return {"anyOf": [{"type": "string"}] * 15 + [{"type": "number"}]}
    return {"anyOf": [held_against(times - 1)] * 2}


@pytest.mark.parametrize(
    ("schema", "count"),
    [
        (held_against(0), 15),
        (held_against(8), 1),
        ({"enum": [*(f"a{number}" for number in range(255)), 1]}, 1),
    ],
)
def test_what_would_take_long_to_check_is_told_and_takes_little(schema: Any, count: int) -> None:
    form = {"type": "object", "properties": {"x": {"type": "array", "items": schema}}}
    answers = [json.dumps({"x": [1] * 4_900})] * count
    with bounded():
        _, problems = parse_structured("Or so: ".join(answers), form)
    assert problems == ["it is too much to be checked: give fewer values"]
    assert parse_structured('{"x": [1, 1]}', form) == ({"x": [1, 1]}, [])


def test_the_last_of_many_values_is_checked_first() -> None:
    form = {"type": "object", "properties": {"x": {"type": "array", "items": held_against(0)}}}
    last = '{"x": [1, 2]}'
    value, problems = parse_structured(json.dumps({"x": [1] * 4_900}) + last, form)
    assert (value, problems) == ({"x": [1, 2]}, [])
