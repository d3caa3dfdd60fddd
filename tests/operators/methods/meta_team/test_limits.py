"""What a phase may take: counted from answers, before each question, and by each one alone."""

from typing import Any

import pytest

from coterie.operators.methods.meta_team import PhaseLimits, TaskFeedback, retrospect
from coterie.operators.methods.meta_team.limits import Meter
from coterie.runtime import AgentOutcome, Run, Score
from coterie.schema import Task

from ...asking import asking
from .looking import ground, model, ran, spoke

ASKS = {"questions": [{"to": "planner", "question": "Why?"}, {"to": "writer", "question": "So?"}]}


def looked(limits: PhaseLimits, **fields: Any) -> Any:
    on = ground(limits=limits, **fields)
    return asking(model({"questions": ASKS}), lambda meta: retrospect(meta, "r", on, "solver"))


def test_within_its_limits_it_asks_and_is_answered() -> None:
    done = looked(PhaseLimits())
    assert len(done.calls) == 4
    assert [item.answer for item in done.result.evidence] == ["I took it as it stood."] * 2


@pytest.mark.parametrize(("steps", "calls"), [(1, 1), (2, 3), (3, 3), (4, 4)])
def test_no_question_is_asked_beyond_them_whoever_answers_first(steps: int, calls: int) -> None:
    done = looked(PhaseLimits(steps=steps))
    assert len(done.calls) == calls
    assert bool(done.result.summary) == (steps == 4)
    assert all("no more may be" in item.reason for item in done.result.rejected)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (PhaseLimits(steps=0), "0 calls were made"),
        (PhaseLimits(seconds=0), "models took 0 seconds"),
        (PhaseLimits(usd=0), "answers cost 0 USD"),
    ],
)
def test_each_limit_ends_it(limits: PhaseLimits, why: str) -> None:
    assert why in str(Meter(limits=limits).reached)
    assert Meter(limits=PhaseLimits(usd=None)).reached is None


def test_who_has_no_conversation_cannot_look_back() -> None:
    done = looked(PhaseLimits(), run=ran(solver=AgentOutcome(status="failed")))
    assert done.calls == []
    assert "read and said nothing" in done.result.rejected[0].reason


def test_questions_of_which_some_are_of_no_use_are_handed_back_then_passed_over() -> None:
    some = {"questions": [*ASKS["questions"], {"to": "nobody", "question": "Who?"}, 7]}
    done = asking(
        model({"questions": some, "answer": {"answer": "…"}}),
        lambda meta: retrospect(meta, "r", ground(), "solver"),
    )
    assert [item.colleague for item in done.result.evidence] == ["planner", "writer"]
    assert [item.answer for item in done.result.evidence] == ["", ""]
    assert len(done.result.rejected) == 2


def test_what_is_told_keeps_the_reference_answer_and_who_may_quote_it_out() -> None:
    task, run = Task(id="t", query="?", answer={"sum": 7}), Run(status="done", answer="8")
    score = Score(value=0.0, reason="it is not 7")
    assert (
        TaskFeedback.of(task, run, score).words == TaskFeedback.of(task, run, score).reference == ""
    )
    assert TaskFeedback.of(task, run, score, is_judged=True).words == "it is not 7"
    assert TaskFeedback.of(task, run, None, shows_reference=True).reference == '{"sum": 7}'
    assert TaskFeedback.of(Task(id="t", query="?"), run, None, shows_reference=True).reference == ""


def test_what_nobody_handed_in_is_told() -> None:
    from coterie.operators import Bounds

    report = TaskFeedback(task=Task(id="t", query="?"), answer=None, error="it broke")
    assert "(none: it broke)" in report.text(Bounds())
    assert "work of" not in report.text(Bounds()) + str(spoke("x").error)
