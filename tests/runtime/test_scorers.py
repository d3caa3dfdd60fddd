"""Scorers: which answers count as right."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from coterie.runtime import scorers
from coterie.runtime.scorers import Evidence, Score
from coterie.runtime.tools import ToolCall
from coterie.schema import InputError, JailError, ScorerChoice, Task

from ..scoring import scored as as_the_engine


def scored(name: str, answer: str, reference: object, **options: object) -> float:
    task = Task(
        id="t", query="?", answer=reference, scorer=ScorerChoice(name=name, options=options)
    )
    found = as_the_engine(task, answer)
    assert found is not None
    assert found.reason
    return found.value


@pytest.mark.parametrize(
    ("name", "answer", "reference", "options", "value"),
    [
        ("exact", " Paris\n", "Paris", {}, 1),
        ("exact", "paris", "Paris", {}, 0),
        ("exact", "paris", "Paris", {"ignore_case": True}, 1),
        ("exact", "7", 7, {}, 1),
        ("choice", "(B)", "B", {}, 1),
        ("choice", "The answer is B.", "(b)", {}, 1),
        ("choice", "A or rather C", "A", {}, 0),
        ("choice", "b", "B", {}, 1),
        ("choice", "none", "B", {}, 0),
        ("number", "It costs 1,234.50 dollars", "1234.5", {}, 1),
        ("number", "3 apples, so 7", 7, {}, 1),
        ("number", "7 apples, so 3", 7, {}, 0),
        ("number", "3.1", "3.14159", {"tolerance": 0.1}, 1),
        ("number", "-2e3", -2000, {}, 1),
        ("number", "many", 7, {}, 0),
        ("contains", "The Eiffel Tower", "eiffel", {}, 1),
        ("contains", "The Eiffel Tower", "eiffel", {"case": True}, 0),
        ("contains", "red and blue", ["red", "blue"], {}, 1),
        ("contains", "red", ["red", "blue"], {}, 0),
        ("regex", "2024-05-06", r"^\d{4}-\d\d-\d\d$", {}, 1),
        ("regex", "May 6", "anything", {"pattern": r"^\d+$"}, 0),
        ("json", '{"b": 2, "a": 1}', {"a": 1, "b": 2}, {}, 1),
        ("json", 'Here: {"a": 1}', '{"a": 1}', {}, 1),
        ("json", '{"a": 2}', {"a": 1}, {}, 0),
        ("json", "no", {"a": 1}, {}, 0),
    ],
)
def test_verdicts(name: str, answer: str, reference: object, options: dict, value: float) -> None:
    assert scored(name, answer, reference, **options) == value


def test_a_task_without_a_reference_has_no_score() -> None:
    assert as_the_engine(Task(id="t", query="?"), "42") is None


def test_a_regular_expression_that_explodes_is_stopped() -> None:
    started = time.process_time()
    with pytest.raises(InputError, match="repetition inside repetition"):
        scored("regex", ",".join(map(str, range(40))), "x", pattern=r"(.*?,){25}P")
    assert time.process_time() - started < 5


def test_an_invalid_regular_expression_says_so() -> None:
    with pytest.raises(InputError, match="not a regular expression"):
        scored("regex", "a", "x", pattern="(")


async def _judged(evidence: Evidence) -> Score:
    calls = [(call.tool, call.arguments, call.error) for call in evidence.tool_calls]
    return Score(
        value=float(evidence.answer == evidence.task.answer),
        reason=f"{calls}",
        measures={"calls": float(len(calls))},
    )


async def _without_jail(evidence: Evidence) -> Score:
    raise JailError(f"no jail for {evidence.task.id}")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task whose scorer sees more than the answer."""
    known = {"judged": _judged, "without_jail": _without_jail}
    monkeypatch.setattr(scorers, "load_named", lambda _group, name: known[name])
    return Task(id="t", query="?", answer="7", scorer=ScorerChoice(name="judged"))


def test_a_scorer_that_waits_sees_what_tools_did(judged: Task) -> None:
    calls = (
        ToolCall(tool="add", arguments={"n": 1}),
        ToolCall(tool="add", arguments="?", error="no object"),
    )
    found = as_the_engine(judged, "7", *calls)
    assert found is not None
    assert (found.value, found.measures) == (1.0, {"calls": 2.0})
    assert found.reason == "[('add', {'n': 1}, None), ('add', '?', 'no object')]"


def test_a_scorer_that_finds_no_jail_gives_no_score(judged: Task) -> None:
    with pytest.raises(JailError, match="no jail for t"):
        as_the_engine(replace(judged, scorer=ScorerChoice(name="without_jail")), "7")
