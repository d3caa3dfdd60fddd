"""Functions that are carried into a program give there what they give here."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.agents.runner import AgentReport
from coterie.runtime.export import standing_in
from coterie.runtime.export.carried import source_of
from coterie.runtime.scoring.functions import calculate, concat, extract_json, majority
from coterie.runtime.scoring.voting import vote
from coterie.runtime.values.structured import parse_structured
from coterie.schema import AgentError, Task

FUNCTIONS = (majority, vote, calculate, extract_json, concat)
THERE: dict[str, Any] = {}
exec(source_of([*FUNCTIONS, parse_structured]), THERE)  # noqa: S102 - it is our own source
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 0}, "b": {"anyOf": [{"const": 1}]}},
    "required": ["a"],
}
TEXTS = st.sampled_from(
    ["", "Answer: 3", "answer is **3**", "\\boxed{3}", "3.0", "1,000", "(1 + 2) * 3^2", "1 / 0",
     "x = ", '{"answer": 3}', '{"expression": "2-5"}', "```python\nx = 1  # one\n```", "so {not",
     '{"a": 1}', 'Well: {"a": -1, "b": 2} or {"a": "x"}', '```json\n{"a": 2}\n```', "[1, 2]"]
)  # fmt: skip


def annotated(text: str) -> str:
    parts: list[str]
    parts = [text, text]
    return ",".join(parts)


def outcome(function: Any, *given: Any) -> Any:
    try:
        return function(*given)
    except (AgentError, THERE["NoAnswer"]) as error:
        return f"raises: {error}"


@given(st.lists(TEXTS | st.text(max_size=12), max_size=4))
def test_functions_give_what_they_give_here(texts: list[str]) -> None:
    reports = [AgentReport(agent_id="a", role="", content=text) for text in texts]
    task = SimpleNamespace(scorer=SimpleNamespace(name=""))
    for function in FUNCTIONS:
        here = outcome(function, reports, Task(id="t", query="?"))
        assert outcome(THERE[function.__name__], reports, task) == here


@given(TEXTS | st.text(max_size=30))
def test_structured_answers_are_read_and_objected_to_as_here(text: str) -> None:
    there = THERE["parse_structured"](text, SCHEMA)
    assert there == parse_structured(text, SCHEMA)


def test_it_needs_nothing_of_ours() -> None:
    assert "coterie" not in source_of(FUNCTIONS)


def test_annotations_are_left_out() -> None:
    text = source_of([annotated])
    assert "list[str]" not in text
    there: dict[str, Any] = {}
    exec(text, there)  # noqa: S102 - it is our own source
    assert there["annotated"]("a") == "a,a"


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a": -1, "b": 2}', "[1]", "x"])
def test_what_stands_in_says_what_ours_does(text: str) -> None:
    value, problems = parse_structured(text, SCHEMA)
    if value is not None:
        assert standing_in.checker(SCHEMA)(value) == problems
        assert standing_in.is_mapping(value) != standing_in.is_list(value)
    assert standing_in.scrubbed(text) == text
