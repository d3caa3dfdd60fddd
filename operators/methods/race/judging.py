"""Stops a race whose judge is at chance, before it spends more than the pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .task_trial import TaskTrial

LEAST = 0.6
"""The least share of pairs in which a judge must score the right answer higher; chance gives
half."""
FEWEST = 2
"""The fewest right, and wrong, answers by which a judge is assessed."""


def refuse_judge_at_chance(trials: Sequence[TaskTrial]) -> None:
    """Compare a judge with the reference answers of the pilot's tasks, as far as they have any.

    Args:
        trials: Runs that the judge scored; those of tasks with a reference answer have that score,
            too.

    Raises:
        InputError: The judge gives right answers no higher scores than wrong ones.
    """
    judged = [
        (trial.run.score.value >= 0.5, trial.score.value)
        for trial in trials
        if trial.run.score is not None and trial.run.score is not trial.score
    ]
    right = [score for is_right, score in judged if is_right]
    wrong = [score for is_right, score in judged if not is_right]
    if min(len(right), len(wrong)) < FEWEST:
        return
    pairs = [(better, worse) for better in right for worse in wrong]
    ordered = sum((better > worse) + (better == worse) / 2 for better, worse in pairs) / len(pairs)
    if ordered < LEAST:
        raise InputError(
            f"the judge gives a right answer the higher score in {ordered:.0%} of pairs of the"
            f" pilot ({len(right)} right, {len(wrong)} wrong): that is chance, and would crown any"
            " team. Write score: answer in the recipe, take another judge_model, or a rubric."
        )
