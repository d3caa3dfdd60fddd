"""What a case looks like to a model."""

import math
from typing import Any

import pytest

from coterie.operators import MetaModel, RejectedProposal, gauge
from coterie.operators.core.bounds import SMALL
from coterie.operators.routing import GAUGED
from coterie.runtime.doubles import Reply

from ....support.hostile_answers import hostile
from ...asking import TASK, Asked, asking, dropped

SAID = {
    "reason": "many findings",
    "complexity": 0.7,
    "disciplines": 1,
    "specialities": 3,
    "divergence": 0,
    "misleading": 0.25,
}


def gauging(*answers: Any, **options: Any) -> Asked[dict[str, float] | RejectedProposal]:
    replies = [Reply.json(answer) for answer in answers]
    return asking(replies, lambda meta: gauge(meta, "g", TASK), **options)


def test_the_five_features_come_of_one_question() -> None:
    asked = gauging(SAID)
    assert asked.result == {name: float(SAID[name]) for name in GAUGED}  # type: ignore[arg-type]
    [call] = asked.calls
    schema = call.body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["reason", *GAUGED]
    assert schema["properties"]["specialities"]["enum"] == [*range(1, 11)]


def test_the_answer_is_not_shown_and_the_task_is_fenced() -> None:
    [call] = gauging(SAID).calls
    assert "There were 7." in call.text
    assert "7 or so" not in call.text
    assert "<task " in call.text


@pytest.mark.parametrize(
    "wrong",
    [{"complexity": 1.1}, {"specialities": 0}, {"specialities": 2.5}, {"divergence": "much"}],
)
def test_what_is_no_such_number_is_repaired_once(wrong: dict[str, Any]) -> None:
    assert dropped(gauging, {**SAID, **wrong}, SAID).operator == "gauge"


def test_a_long_reason_does_no_harm_to_a_small_model() -> None:
    asked = gauging({**SAID, "reason": "so " * 500}, bounds=SMALL)
    assert isinstance(asked.result, dict)


def test_whatever_is_answered_numbers_are_in_range_or_it_is_dropped(nightly: bool) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await gauge(meta_model, "g", TASK)

    def are_in_range(fields: dict[str, float]) -> None:
        assert tuple(fields) == GAUGED
        assert all(math.isfinite(value) for value in fields.values())
        assert all(0 <= fields[name] <= 1 for name in GAUGED if name != "specialities")
        assert fields["specialities"] in range(1, 11)

    count = hostile(2_000 if nightly else 60, work, are_in_range)
    assert count.counts["RejectedProposal"] + count.counts["dict"] == count.counts.total()
    assert min(count.counts["RejectedProposal"], count.counts["dict"]) > 0
