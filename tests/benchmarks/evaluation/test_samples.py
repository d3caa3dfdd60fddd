"""Samples: what a run came to, and the line that keeps it."""

import pytest

from coterie.benchmarks.evaluation.samples import Sample, journaled
from coterie.runtime import AgentOutcome, Run, Score
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError, Task
from coterie.schema.values.codec import to_value
from coterie.schema.values.errors import StorageError

from ..kept import sample

TASK = Task(id="t", query="?", niche="sums", answer="7")
DOWN = {"a": AgentOutcome(status="failed", fault="down", error="HTTP 500")}
OWN = {"a": AgentOutcome(status="failed", fault="agent", error="no JSON")}
RIGHT = Score(value=1.0, reason="right", measures={"steps": 3.0})


@pytest.mark.parametrize(
    ("run", "status", "score"),
    [
        (Run(status="done", answer="7", score=RIGHT), "done", 1.0),
        (Run(status="failed", error="agent a: no JSON", agents=OWN), "failed", 0.0),
        (Run(status="stopped", error="the run reached its timeout"), "stopped", 0.0),
        (Run(status="failed", error="agent a: HTTP 500", agents=DOWN), "unscored", None),
        (Run(status="failed", error="no jail", fault="jail"), "unscored", None),
        (Run(status="done", answer="7", score=RIGHT, agents=DOWN), "unscored", None),
    ],
)
def test_only_a_failure_of_the_team_scores_0(run: Run, status: str, score: float | None) -> None:
    result = Sample.of_run(TASK, 2, run)
    assert (result.task, result.trial, result.niche) == ("t", 2, "sums")
    assert (result.status, result.score, result.answer) == (status, score, run.answer)
    assert result.error == (run.error or run.why_failed or None)
    assert result.lost == sum(agent.fault == "down" for agent in run.agents.values())


def test_what_else_was_measured_and_consumed_is_kept() -> None:
    usage = Usage(calls=2, prompt_tokens=30, completion_tokens=4, usd=0.25)
    run = Run(status="done", answer="7", score=RIGHT, usage=usage, seconds=1.23456)
    result = Sample.of_run(TASK, 1, run)
    assert (result.reason, result.measures, result.usage) == ("right", {"steps": 3.0}, usage)
    assert result.seconds == 1.235


def test_an_answer_that_nothing_can_be_compared_with_is_an_error() -> None:
    with pytest.raises(InputError, match="'t' has no answer to score against"):
        Sample.of_run(TASK, 1, Run(status="done", answer="7"))


def test_a_line_says_no_more_than_it_must() -> None:
    assert to_value(sample("t", None)) == {
        "task": "t",
        "trial": 1,
        "status": "unscored",
        "score": None,
    }
    full = sample("t", 1.0, answer="7", usage=Usage(calls=1), measures={"side_effects": 0.0})
    assert to_value(full)["usage"] == {"calls": 1}
    assert to_value(full)["measures"] == {"side_effects": 0.0}


def test_a_damaged_entry_of_a_journal_is_named() -> None:
    message = r"the entry 'a/sample' \(sample\) is damaged: trial: 'x' is not of type 'integer'"
    with pytest.raises(StorageError, match=message):
        journaled("a/sample", {"task": "a", "trial": "x", "status": "done", "score": 1.0})
