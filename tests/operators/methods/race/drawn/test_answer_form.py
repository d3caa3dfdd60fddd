"""Forms of answers: narrow, and every reference answer fits."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators.methods.race.drawn.answer_form import forms
from coterie.operators.methods.race.drawn.answering import plain_answer, written
from coterie.runtime.values.structured import answer_in, parse_structured
from coterie.schema import ScorerChoice

from ....asking import llm, seed, team
from .drawing import SOLO, drawn, tasks, trials

STREAMS = ("products", "coins", "sentiment", "dates", "ages")


@pytest.mark.parametrize("name", STREAMS)
def test_every_reference_fits_and_is_the_answer_that_counts(name: str) -> None:
    proposals = drawn("answer_form", stream_name=name)
    assert proposals
    for proposal in proposals:
        schema: Any = proposal.child.agents["solver"].output_schema
        for task in tasks(name):
            text = written(str(task.answer), {**schema, "properties": answer_alone(schema)})
            value, problems = parse_structured(text or "", closed(schema))
            assert not problems
            assert answer_in(value)[1] == task.answer


def answer_alone(schema: Any) -> Any:
    return {"answer": schema["properties"]["answer"]}


def closed(schema: Any) -> Any:
    """The schema without what is worked out ahead of the answer."""
    return {**schema, "properties": answer_alone(schema), "required": ["answer"]}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["yes", "no", "yes", "no"], [{"type": "string", "enum": ["no", "yes"]}]),
        (["4", "17", "-3"], [{"type": "integer"}]),
        (["4", "1.5", "2"], [{"type": "number"}]),
        (["007", "012", "100"], [{"type": "string", "minLength": 3, "maxLength": 3}]),
        (["Rome", "Athens"], [{"type": "string", "maxLength": 26}]),
        (["x" * 300], []),
        ([], []),
    ],
)
def test_forms_are_those_of_all_answers(answers: list[str], expected: list[Any]) -> None:
    assert [form.schema for form in forms(answers)] == expected


def test_labels_that_are_numbers_are_labels_first() -> None:
    first, second = forms(["1", "2", "1", "2"])
    assert first.schema == {"type": "string", "enum": ["1", "2"]}
    assert second.schema == {"type": "integer"}


def test_values_are_written_as_the_scorer_compares_them() -> None:
    (task,) = tasks("coins", 1)
    for name, answer, text in (("exact", True, "True"), ("json", True, "true"), ("number", 0, "0")):
        given = replace(task, answer=answer, scorer=ScorerChoice(name=name))
        assert plain_answer(given) == text


def test_only_answers_that_are_texts_have_a_form() -> None:
    given = tasks("coins")
    searched = [replace(task, scorer=ScorerChoice(name="regex")) for task in given]
    listed = [replace(task, answer=["7", "8"]) for task in given]
    assert [plain_answer(task) for task in (searched[0], listed[0])] == [None, None]
    assert drawn("answer_form", trials=trials(SOLO, [*given, *searched])) == []


def test_a_form_that_does_more_than_hold_the_answer_stays() -> None:
    form = {"type": "object", "properties": {"answer": {"type": "string"}, "why": {}}}
    held = team("held", llm("solver", output_schema=form))
    assert (
        drawn("answer_form", held)
        == drawn("quote", held, "ages")
        == drawn("calculator", held)
        == []
    )
    assert drawn("answer_form", seed("translate_and_calculate")) == []
