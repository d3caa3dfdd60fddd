"""Scorers: which answers count as right."""

import asyncio
from dataclasses import replace

import pytest

from coterie.runtime import Run, Score
from coterie.runtime.agents.outcomes import ToolCall
from coterie.runtime.jail import Jails
from coterie.runtime.scoring import scorers
from coterie.runtime.scoring.scorers import Evidence, ScorerError
from coterie.schema import JailError, ScorerChoice, Task

from ...scoring import scored as as_the_engine


def scored(name: str, answer: str, reference: object, **options: object) -> float:
    task = Task(
        id="t", query="?", answer=reference, scorer=ScorerChoice(name=name, options=options)
    )
    result = as_the_engine(task, answer)
    assert result is not None
    assert result.reason
    return result.value


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


def test_a_search_that_explodes_is_ended_and_finds_nothing() -> None:
    answer = ",".join(map(str, range(40)))
    task = Task(
        id="t",
        query="?",
        answer="x",
        scorer=ScorerChoice(name="regex", options={"pattern": "(((a{100}){100}){100}){100}"}),
    )
    result = as_the_engine(task, answer)
    assert result is not None
    assert result.value == 0
    assert "is not found: it takes more than 256 MB" in result.reason
    assert scored("regex", answer, "39") == 1, "the next one is searched as ever"


def test_a_scorer_that_fails_gives_no_score_and_says_why() -> None:
    with pytest.raises(ScorerError, match="the scorer regex failed: ValueError: missing \\)"):
        scored("regex", "a", "x", pattern="(")
    with pytest.raises(ScorerError, match="the scorer letter failed: KeyError: 'letters'"):
        scored("letter", "a", "A")


def test_an_answer_that_is_longer_than_a_scorer_reads_is_wrong() -> None:
    task = Task(id="t", query="?", answer="a", scorer=ScorerChoice(name="contains"))
    result = as_the_engine(task, "a" * 1_000_001)
    assert result == Score(value=0.0, reason="longer than 1,000,000 characters")


@pytest.mark.parametrize("odd", [float("nan"), 1.5, -1, "1", None])
def test_what_is_no_score_is_none(odd: object, monkeypatch: pytest.MonkeyPatch) -> None:
    result = odd if odd is None else Score(value=odd, reason="")  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(scorers, "load_named", lambda _group, _name: lambda *_: result)
    with pytest.raises(ScorerError, match="the scorer exact failed"):
        scored("exact", "a", "a")


def test_a_measure_that_is_no_number_makes_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Score(value=1.0, reason="", measures={"far": float("inf")})
    monkeypatch.setattr(scorers, "load_named", lambda _group, _name: lambda *_: result)
    with pytest.raises(ScorerError, match="not finite measures"):
        scored("exact", "a", "a")


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
    result = as_the_engine(judged, "7", *calls)
    assert result is not None
    assert (result.value, result.measures) == (1.0, {"calls": 2.0})
    assert result.reason == "[('add', {'n': 1}, None), ('add', '?', 'no object')]"


def test_a_scorer_that_finds_no_jail_gives_no_score(judged: Task) -> None:
    with pytest.raises(JailError, match="no jail for t"):
        as_the_engine(replace(judged, scorer=ScorerChoice(name="without_jail")), "7")


def test_a_run_whose_scorer_fails_is_no_failure_of_its_team() -> None:
    task = Task(id="t", query="?", answer="(", scorer=ScorerChoice(name="regex"))
    result = asyncio.run(scorers.scored(Run(status="done", answer="7"), task, Jails()))
    assert (result.status, result.fault, result.score) == ("failed", "scorer", None)
    assert result.is_infrastructure_failure
    assert result.error is not None
    assert result.error.startswith("the answer could not be scored: the scorer regex failed")
