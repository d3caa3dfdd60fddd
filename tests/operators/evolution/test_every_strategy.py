"""What holds for every strategy: nothing goes wrong in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema.host.catalogue import installed

from ..evolving import asked
from .every_strategy import RECIPES, evolve


def test_no_strategy_is_left_out() -> None:
    assert {*RECIPES} == {*installed("strategies")}


def wordy(request: Request) -> Reply:
    """Answer right, in a form that the scorer does not read; operators get nothing of use."""
    return Reply(text="I would rather not." if asked(request) else "All in all it makes 7.")


@pytest.mark.parametrize("strategy", RECIPES)
def test_scores_that_are_0_for_want_of_a_form_stop_an_evolution(
    strategy: str, tmp_path: Path
) -> None:
    came = evolve(tmp_path, strategy, wordy, tasks=12)
    assert came.code == 2, came.err
    assert "the first 10 scores are all 0, yet 10 of these answers contain" in came.err
    assert "the scorer exact does not find it" in came.err
    assert "the answer ends in 'All in all it makes 7.', the reference answer is '7'" in came.err
    assert 'write "scorer": {"name": "number"} into the tasks' in came.err
    assert came.err.rstrip().endswith(
        "add --allow-zeros; nothing is lost. The same command goes on."
    )


def test_an_evolution_resumes_on_zeros_where_that_is_allowed_and_pays_nothing_again(
    tmp_path: Path,
) -> None:
    assert evolve(tmp_path, "fixed", wordy, tasks=12).calls == 10
    assert evolve(tmp_path, "fixed", wordy, tasks=22).code == 2  # it looks again where it resumes
    allowed = evolve(tmp_path, "fixed", wordy, "--allow-zeros", tasks=22)
    assert (allowed.code, allowed.calls) == (0, 3)
    assert "online 0.000" in allowed.out
