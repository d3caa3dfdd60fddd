"""The runs that an operator sees: failures of one niche and a success, with agents' credits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....runtime.scoring.scorers import scored

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ....runtime.jail import Jails
    from .task_trial import TaskTrial

FAILURES = 4
"""The number of failed tasks that are shown, beside one that was solved."""


def shown(trials: Sequence[TaskTrial], chance: random.Random) -> list[TaskTrial]:
    """Return the lowest scores of one niche, and last the highest score.

    Args:
        chance: Draws the niche, in proportion to its failures.
    """
    failures = sorted(
        (trial for trial in trials if trial.score.value < 1), key=lambda trial: trial.score.value
    )
    niche = chance.choice(failures).task.niche if failures else None
    failures = [trial for trial in failures if trial.task.niche == niche][:FAILURES]
    best = max(trials, key=lambda trial: (trial.score.value, trial.task.niche == niche))
    return [*failures, *([best] if best not in failures else [])]


async def with_credits(trial: TaskTrial, jails: Jails) -> TaskTrial:
    """Return a trial with the score that each agent's output would have had as the answer.

    If an agent was right and the team was not, an agent after it lost the answer. No model is
    called. A team of one agent, and a task without a scorer of its own, have no credits.
    """
    if len(trial.run.agents) < 2 or not trial.task.is_scored:
        return trial
    values: dict[str, float] = {}
    for name, outcome in trial.run.agents.items():
        if (result := outcome.result) is None:
            continue
        answer = result.content if result.answer is None else result.answer
        alone = replace(trial.run, answer=answer, answered_by=name)
        if (score := (await scored(alone, trial.task, jails)).score) is not None:
            values[name] = score.value
    return replace(trial, credits=values)


def credits_text(values: Mapping[str, float]) -> str:
    """Write credits on one line; empty if there are none."""
    each = ", ".join(f"{name} {value:.2g}" for name, value in values.items())
    return f"score of each agent's output as the answer: {each}" if each else ""
