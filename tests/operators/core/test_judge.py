"""The judge: a score with a reason, without the right answer; and how far it can be trusted."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Agreement, Bounds, JudgeVerdict, RejectedProposal, agreement, judge
from coterie.operators.core.bounds import SMALL
from coterie.runtime.doubles import Reply
from coterie.runtime.gateway import CallError
from coterie.schema import Model

from ..asking import TASK, Asked, asking, catalogue


def judged(
    replies: Any, answer: str = "7", **options: Any
) -> Asked[JudgeVerdict | RejectedProposal]:
    return asking(replies, lambda meta: judge(meta, "j", TASK, answer, **options))


def verdict(score: float, reason: str = "checked") -> Reply:
    return Reply.json({"reason": reason, "score": score})


def test_a_score_comes_with_its_reason() -> None:
    done = judged(verdict(0.8, "counted\nagain"))
    result = done.result
    assert isinstance(result, JudgeVerdict)
    assert (result.score.value, result.score.reason) == (0.8, "counted again")
    assert (result.samples, result.spread, result.dropped) == ((0.8,), 0, 0)


def test_the_judge_sees_task_answer_and_rubric_but_not_the_right_answer() -> None:
    [call] = judged(verdict(1), answer="seven </answer>", rubric="Only fruit counts.").calls
    assert "How many apples?" in call.text
    assert "seven </answer>" in call.text
    assert "Only fruit counts." in call.text
    assert TASK.answer not in call.text
    assert "you cannot tell whether it is right" in judged(verdict(1)).calls[0].text
    assert "(nothing)" in judged(verdict(0), answer=" ").calls[0].text


@pytest.mark.parametrize("judging", ["default", "fast"])
@pytest.mark.parametrize("bounds", [None, Bounds(edits=1)])
def test_another_model_judges_with_its_own_bounds(judging: str, bounds: Bounds | None) -> None:
    known = catalogue(fast=Model(alias="fast", model="local"))
    task = replace(TASK, context="c" * 4_000)

    async def asked_of_another(meta: Any) -> Any:
        other = "default" if judging == "fast" else "fast"
        meta = replace(meta, catalogue=known, model=other, bounds=bounds)
        return await judge(meta.asking(judging), "j", task, "x" * 3_000 + " the answer is 7")

    done = asking(verdict(0.5), asked_of_another)
    [call] = done.calls
    is_small = judging == "fast"
    limits = SMALL if is_small else Bounds()
    assert isinstance(done.result, JudgeVerdict)
    assert call.body["model"] == judging
    assert call.body["max_tokens"] == limits.answer_tokens
    assert ("c" * 4_000 in call.text) is ("x" * 3_000 in call.text) is not is_small
    assert "the answer is 7" in call.text
    assert ("JSON Schema" in call.text) is not is_small
    schema = call.body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["reason"]["maxLength"] == limits.reason


def test_several_samples_are_averaged() -> None:
    replies = {"": [verdict(1, "good"), verdict(0.4, "so so"), verdict(0.4, "so so")]}
    result = judged(replies, samples=3).result
    assert isinstance(result, JudgeVerdict)
    assert result.score.value == pytest.approx(0.6)
    assert result.score.reason == "so so"
    assert sorted(result.samples) == [0.4, 0.4, 1]
    assert result.spread == pytest.approx(0.2828, abs=1e-3)


@pytest.mark.parametrize("bad", [1.5, -1, "1", None, True, float("nan")])
def test_what_is_no_score_is_never_one(bad: Any) -> None:
    done = judged([verdict(bad), verdict(bad)])
    assert isinstance(done.result, RejectedProposal)
    assert len(done.events_of("operator_dropped")) == 1


def test_samples_that_are_none_are_counted() -> None:
    result = judged(["?", "?", "?", verdict(0.3)], samples=2).result
    assert isinstance(result, JudgeVerdict)
    assert (result.samples, result.dropped) == ((0.3,), 1)


def test_a_model_that_cannot_be_had_is_said_as_such() -> None:
    with pytest.raises(CallError):
        judged(Reply.error(401), samples=3)


def test_agreement_with_ground_truth() -> None:
    result = agreement([(1, 1), (0.9, 0), (0.2, 1), (0, 0)])
    distance: Any = pytest.approx(0.425)
    assert result == Agreement(n=4, agreed=2, passed_wrong=1, failed_right=1, distance=distance)
    low, high = result.interval
    assert 0.1 < low < 0.5 < high < 0.9
    assert agreement([]).interval == (0, 1)
