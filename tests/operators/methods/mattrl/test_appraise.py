"""The judge of utterances: each of a round once, by a rubric, without the right answer."""

from collections.abc import Sequence
from typing import Any

import pytest

from coterie.operators import Bounds, RejectedProposal, Utterance
from coterie.operators.methods.mattrl.appraise import Appraisal, appraise
from coterie.runtime.doubles import Reply

from ...asking import TASK, Asked, asking, dropped
from ...consulting import utterance

ROUND = (utterance("heart", read="letter of brain:\nlook here"), utterance("brain"))
SCORES = {word: {"reason": f"{word} helped", "score": 0.7} for word in ("heart", "brain")}
SAID = {"reason": "counted", "agents": SCORES}


def appraised(
    *answers: Any, of: Sequence[Utterance] = ROUND, bounds: Bounds | None = None, rubric: str = ""
) -> Asked[Appraisal | RejectedProposal]:
    replies = [Reply.json(answer) for answer in answers]
    return asking(replies, lambda meta: appraise(meta, "a", TASK, of, rubric=rubric), bounds=bounds)


def test_every_utterance_gets_a_score_with_a_reason() -> None:
    done = appraised(SAID)
    assert isinstance(done.result, Appraisal)
    assert {name: item.value for name, item in done.result.of.items()} == {
        "heart": 0.7,
        "brain": 0.7,
    }
    assert done.result.of["brain"].reason == "brain helped"
    assert done.result.value() == SAID
    assert len(done.calls) == 1


def test_it_sees_what_was_said_and_read_but_not_the_right_answer() -> None:
    [call] = appraised(SAID).calls
    for shown in ("How many apples?", "heart in 1", "look here", "role of heart", "Information"):
        assert shown in call.text
    assert str(TASK.answer) not in call.text


def test_the_rubric_of_the_recipe_takes_the_place_of_ours() -> None:
    [call] = appraised(SAID, rubric="Only rhymes count.").calls
    assert "Only rhymes count." in call.text
    assert "Information gain" not in call.text


@pytest.mark.parametrize(
    "bad",
    [
        {**SAID, "agents": {}},
        {**SAID, "agents": {**SCORES, "ghost": SCORES["heart"]}},
        {**SAID, "agents": {**SCORES, "heart": {"reason": "r", "score": 7}}},
        {**SAID, "agents": {**SCORES, "heart": {"score": 0.5}}},
    ],
)
def test_what_is_no_appraisal_is_repaired_once_then_dropped_and_counted(bad: Any) -> None:
    assert dropped(appraised, bad, SAID).operator == "appraise"


def test_many_long_utterances_share_the_room() -> None:
    of = [utterance(f"a{number}", message="x" * 9_000, read="y" * 9_000) for number in range(12)]
    scores = {item.agent: {"reason": "r" * 9_000, "score": 0.123} for item in of}
    done = appraised({"reason": "r", "agents": scores}, of=of, bounds=Bounds(reason=50))
    assert isinstance(done.result, Appraisal)
    assert done.result.of["a3"].reason == "r" * 50
    assert done.result.of["a3"].value == 0.123
    assert len(done.calls[0].text) < 40_000
