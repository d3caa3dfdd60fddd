"""The first scores: all 0 for want of a form, or for want of knowledge."""

import pytest

from coterie.runtime import Run, Score
from coterie.runtime.scoring.form_check import FIRST, LEAST, FormCheck
from coterie.schema import ScorerChoice, Task
from coterie.schema.values.errors import AnswerFormError


def take(
    answers: list[str], reference: object = "7", scorer: str = "exact", score: float = 0.0
) -> None:
    check = FormCheck()
    for answer in answers:
        task = Task(id="t", query="?", answer=reference, scorer=ScorerChoice(name=scorer))
        run = Run(status="done", answer=answer, score=Score(value=score, reason="so"))
        check.take(task, run)


RIGHT, WRONG = "All in all it makes 7.", "All in all it makes 17."


@pytest.mark.parametrize(
    "answers",
    [
        [RIGHT] * (FIRST - 1),
        [WRONG] * FIRST,
        [RIGHT] * (LEAST - 1) + [WRONG] * (FIRST - LEAST + 1) + [RIGHT] * FIRST,
        [f"7 of {'x' * 300}"] * FIRST,
        [""] * FIRST,
    ],
)
def test_zeros_of_wrong_answers_stop_nothing(answers: list[str]) -> None:
    take(answers)


@pytest.mark.parametrize("reference", [["7"], {"a": 7}, "", "7" * 101])
def test_a_reference_that_is_no_short_text_is_not_looked_for(reference: object) -> None:
    take([f"It is {reference}"] * FIRST, reference)


def test_one_score_is_enough_to_go_on() -> None:
    take([RIGHT] * FIRST, score=0.1)


@pytest.mark.parametrize(
    ("reference", "scorer", "advice"),
    [
        (7, "exact", 'write "scorer": {"name": "number"} into the tasks, or write into'),
        ("Bern", "choice", 'write "scorer": {"name": "contains"} into the tasks, or write into'),
        ("7", "number", "Choose a new name and write into"),
    ],
)
def test_another_form_stops_the_work(reference: object, scorer: str, advice: str) -> None:
    answers = [f"It is **{reference}**."] * LEAST + ["No."] * (FIRST - LEAST)
    with pytest.raises(AnswerFormError) as error:
        take(answers, reference, scorer)
    assert f"yet {LEAST} of these answers" in str(error.value)
    assert advice in str(error.value)
    assert error.value.exit_code == 2
