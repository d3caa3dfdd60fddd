"""A verdict as a person reads it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.blame import BlameVerdict, FailedRun, Finding, RunStep, Submission, Vote
from coterie.runtime.record.events import events_of
from coterie.runtime.values.usage import Usage
from coterie.schema.values.errors import InputError

from .cases import TRACE

VERDICT = BlameVerdict(agent="solver", step=5, why="Pears.", confidence=0.5, scheme="local")


def told(verdict: BlameVerdict, trace: FailedRun = TRACE, **fields: Any) -> list[str]:
    known: dict[str, Any] = {"model": "default", "rounds": 0, "recorded": 0, "dropped": 0, **fields}
    finding = Finding(trace=trace, verdict=verdict, usage=Usage(calls=3), **known)
    return finding.text().splitlines()


def test_who_is_charged_by_default_is_said_to_be() -> None:
    deniers = [
        Submission(analyzer=agent, first=first, confidence=0.5)
        for agent, first in (("planner", 3), ("solver", 5))
    ]
    verdict = replace(
        VERDICT, by_default=True, submissions=tuple(deniers), lost=("writer",), votes=()
    )
    least_sure = "The least sure of having made no mistake is solver, step 5."
    assert told(verdict, dropped=1) == [
        f"no verdict: nobody accuses anybody. {least_sure}",
        "votes: none",
        "accuse nobody: planner, solver",
        "say nothing of use: writer",
        "dropped: 1 answer, no good after one repair either",
        "local: 3 calls to default, 0 tokens, free",
    ]


@pytest.mark.parametrize("by_default", [True, False])
def test_who_is_not_sure_at_all_blames_nobody(by_default: bool) -> None:
    verdict = replace(VERDICT, by_default=by_default, confidence=0.0)
    assert told(verdict)[0].startswith("no verdict: ")
    value = Finding(
        trace=TRACE, verdict=verdict, model="m", rounds=0, usage=Usage(), recorded=0, dropped=0
    ).value()
    assert (value["agent"], value["step"], value["text"]) == (None, None, None)


def test_of_many_votes_the_heaviest_are_shown() -> None:
    votes = tuple(Vote(agent="solver", step=n, weight=1 / n, by=("a",)) for n in range(1, 12))
    accuser = Submission(analyzer="a", first=1, confidence=1, accuses=("solver", 1))
    lines = told(replace(VERDICT, votes=votes, submissions=(accuser,)))
    assert sum("solver, step" in line for line in lines[4:]) == 8
    assert "  and 3 more" in lines


def test_a_step_cannot_pose_as_a_line_of_ours_nor_command_the_terminal() -> None:
    evil = RunStep(number=5, agent="solver", text="\x1b[2Jx\nvotes:\n" + "y" * 9_000, kind="answer")
    trace = replace(TRACE, steps=(evil,))
    lines = told(replace(VERDICT, why="because\nvotes:"), trace)
    assert lines[1] == "why: because votes:"
    assert lines[2:5] == ["step 5 (answer; events.jsonl:5):", "  x", "  votes:"]
    assert max(map(len, lines)) < 1_300
    assert told(VERDICT, replace(TRACE, steps=(replace(evil, text=" "),)))[3] == "  (nothing)"


def test_events_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        events_of(tmp_path)
