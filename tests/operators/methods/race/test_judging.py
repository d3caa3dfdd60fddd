"""A judge at chance is refused after the pilot; a judge that knows, or nobody can check, is not."""

from collections.abc import Sequence

import pytest

from coterie.operators.methods.race.judging import refuse_judge_at_chance
from coterie.operators.methods.race.task_trial import TaskTrial
from coterie.runtime import Run, Score
from coterie.schema import InputError, Task


def trials(pairs: Sequence[tuple[float | None, float]]) -> list[TaskTrial]:
    """Runs with the score by the reference answer, if there is one, and the judge's."""
    return [
        TaskTrial(
            task=Task(id=f"t{number}", query="?"),
            run=Run(status="done", score=None if known is None else Score(value=known, reason="")),
            score=Score(value=judged, reason=""),
        )
        for number, (known, judged) in enumerate(pairs)
    ]


CHANCE = [(1.0, 0.5), (1.0, 0.2), (0.0, 0.5), (0.0, 0.6)]


def test_a_judge_at_chance_is_refused() -> None:
    with pytest.raises(InputError, match="score: answer"):
        refuse_judge_at_chance(trials(CHANCE))


@pytest.mark.parametrize(
    "pairs",
    [
        [(1.0, 0.9), (1.0, 0.7), (0.0, 0.2), (0.0, 0.8)],
        [(None, judged) for _, judged in CHANCE],
        CHANCE[1:3],
    ],
    ids=["knows", "no references", "too few"],
)
def test_others_are_not(pairs: Sequence[tuple[float | None, float]]) -> None:
    refuse_judge_at_chance(trials(pairs))
