"""The scorer: calls in the answer come before calls that were done; both are judged alike."""

from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.workbench.tasks import WORKBENCH
from coterie.runtime.agents.outcomes import ToolCall
from coterie.runtime.scoring.scorers import ScorerError
from coterie.schema import ScorerChoice, Task

from ...scoring import found as scored

LUNCH = "00000009"


@pytest.fixture
def task(folder: Path) -> Task:
    """Cancel the team lunch."""
    return WORKBENCH.tasks(Source(data=folder))[1]


def delete(event_id: str, error: str | None = None) -> ToolCall:
    return ToolCall(tool="calendar.delete_event", arguments={"event_id": event_id}, error=error)


def test_calls_in_the_answer(task: Task) -> None:
    result = scored(task, f'FUNCTION_CALLS:\ncalendar.delete_event.func(event_id="{LUNCH}")')
    assert result.value == 1.0
    assert result.measures == {"side_effects": 0.0, "exact_match": 1.0}
    assert result.reason == "1 calls in the answer lead to the right state"


def test_calls_that_were_done_where_the_answer_lists_none(task: Task) -> None:
    looked = ToolCall(tool="calendar.search_events", arguments={"query": "lunch"})
    other = ToolCall(tool="read_file", arguments={"path": "x"})
    odd = ToolCall(tool="calendar.delete_event", arguments="x", error="no object")
    result = scored(task, "It is done.", looked, other, odd, delete("1"), delete(LUNCH))
    assert (result.value, result.measures["exact_match"]) == (1.0, 0.0)
    assert result.reason == "3 calls of tools lead to the right state"


def test_a_call_that_was_refused_is_not_judged(task: Task) -> None:
    refused = delete("00000004", error="calendar.delete_event is not available in this task.")
    assert scored(task, "Done.", refused, delete(LUNCH)).value == 1.0


def test_the_answers_list_comes_first(task: Task) -> None:
    result = scored(task, "FUNCTION_CALLS: []", delete(LUNCH))
    assert (result.value, result.measures["side_effects"]) == (0.0, 0.0)


def test_a_wrong_change_is_a_side_effect(task: Task) -> None:
    result = scored(task, "Done.", delete("00000004"))
    assert (result.value, result.measures["side_effects"]) == (0.0, 1.0)


def test_no_calls_are_right_where_nothing_is_to_be_done(folder: Path) -> None:
    task = WORKBENCH.tasks(Source(data=folder))[2]
    assert scored(task, "Nothing to do.").value == 1.0


def test_files_that_are_gone_give_no_score(task: Task) -> None:
    gone = ScorerChoice(name="workbench", options={**task.scorer.options, "folder": "/gone"})
    with pytest.raises(ScorerError, match=r"scorer workbench failed: /gone/.* cannot be read"):
        scored(replace(task, scorer=gone), "x")
