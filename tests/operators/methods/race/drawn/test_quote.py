"""Quoting: the sentence that has the answer is found in the task."""

import json

import pytest

from coterie.operators.methods.race.drawn.quote import sentence_with

from .drawing import drawn, tasks
from .test_examples import shown


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("4", "Tom is 14 years old. Eve is 4 years old. How old is Eve?", "Eve is 4 years old."),
        ("4", "Tom is 4. Eve is 4. How old is Eve?", None),
        ("3.5", "It costs 3.5 now.\nIt cost 3.", "It costs 3.5 now."),
        ("ROME", "They met in Rome!", "They met in Rome!"),
        ("Rome", "Rome", None),
        ("Oslo", "They met in Rome.", None),
    ],
)
def test_the_sentence_that_has_the_answer(answer: str, text: str, expected: str | None) -> None:
    assert sentence_with(answer, text) == expected


def test_each_example_quotes_its_question() -> None:
    given = {task.text: task.answer for task in tasks("ages")}
    proposals = drawn("quote", stream_name="ages")
    assert proposals
    for proposal in proposals:
        schema = proposal.child.agents["solver"].output_schema or {}
        assert list(schema["properties"]) == ["quote", "answer"]
        for query, text in shown(proposal.child):
            value = json.loads(text)
            assert value["quote"] in query
            assert str(value["answer"]) == given[query] in value["quote"]


@pytest.mark.parametrize("name", ["coins", "dates", "sentiment"])
def test_nothing_is_quoted_where_answers_do_not_stand_in_the_task(name: str) -> None:
    assert drawn("quote", stream_name=name) == []
