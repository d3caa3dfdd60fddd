"""JSON in models' answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.structured import answer_in, first_json, parse_structured

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
    ],
)
def test_first_json_finds_the_value(text: str, value: object) -> None:
    assert first_json(text) == value


@pytest.mark.parametrize("text", ["", "none", "{a: 1}", "NaN", "[" * 100_000])
def test_first_json_refuses_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON"):
        first_json(text)


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
