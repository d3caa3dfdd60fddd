"""What an evolution will take, told before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runtime.gateway.metering import tokens_in
from ...runtime.plan.plan import compile
from ...runtime.runs.estimate import Estimate, Range, any_call, any_of, estimate, of_call
from ..core.bounds import MOST_CALLS, Bounds
from ..core.material import CHARACTERS_PER_TOKEN
from ..core.scoring import is_judged
from ..evolution.strategy import strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runtime.plan.plan import Plan
    from ...schema.host.models import Model
    from ...schema.team.task import Task
    from .starting import EvolutionStart

TEAMS_SHOWN = 2
"""Teams that an operator reads of, with what their runs came to."""
LEAST_READ = 200
"""Tokens of the instructions of an operator, at least."""


def asked_once(model: Model | None) -> Estimate:
    """Estimate one call of an operator or a judge.

    Args:
        model: Who is asked. None: nobody knows which model that is.
    """
    bounds = Bounds.of(model)
    each = bounds.team_characters + bounds.digest_tokens * CHARACTERS_PER_TOKEN
    shown = TEAMS_SHOWN * each + 2 * bounds.task_characters
    read = Range(least=LEAST_READ, most=tokens_in(shown) + bounds.answer_tokens)
    return of_call(model, read, Range(least=1, most=bounds.answer_tokens))


def judged(model: Model | None, least: float, most: float | None) -> Estimate:
    """Estimate judgements, each with a repair at most.

    Args:
        least: How many answers are judged at least.
        most: And at most; None: nobody knows.
    """
    return asked_once(model) * Range(least=least, most=None if most is None else MOST_CALLS * most)


def evolution(start: EvolutionStart, tasks: Sequence[Task]) -> Estimate:
    """Estimate an evolution: at least, a team runs once on each task.

    What it may take at most is known where the strategy bounds its calls. Teams that are made anew
    are taken to be no larger than those of today.

    Args:
        tasks: What is left of its stream.
    """
    recipe, models = start.recipe, start.catalogue.models
    plans, once = _plans(start), evolved_team(start, tasks)
    judge = models.get(recipe.judge_model or recipe.meta_model)
    to_judge = sum(is_judged(recipe, task) for task in tasks)
    bound = strategy_of(recipe.strategy).calls_at_most
    if bound is None:
        open_end = Range(least=1, most=None)
        return once * open_end + judged(judge, to_judge, None if to_judge else 0)
    most = max(bound(recipe.settings, plan) for plan in plans)
    smallest = min(max(1, plan.calls_at_most) for plan in plans)
    questions = [
        asked_once(models.get(operator_model)) for operator_model in sorted(start.operator_models)
    ]
    call = any_of([*(any_call(plan, tasks) for plan in plans), *questions])
    everything = call * Range(least=0, most=most * len(tasks))
    ranges = {
        name: Range(least=getattr(once, name).least, most=getattr(everything, name).most)
        for name in ("calls", "tokens", "usd")
    }
    result = Estimate(**ranges, unpriced=everything.unpriced)
    return result + judged(judge, to_judge, to_judge * (most // smallest))


def evolved_team(start: EvolutionStart, tasks: Sequence[Task]) -> Estimate:
    """Estimate a team of an evolution, whichever, that runs once on each of these tasks.

    Teams that are made anew are taken to be no larger than those of today.
    """
    return any_of(estimate(plan, tasks) for plan in _plans(start))


def _plans(start: EvolutionStart) -> list[Plan]:
    return [compile(team, start.catalogue) for team in start.teams_at_work]
