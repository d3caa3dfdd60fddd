"""An estimate of an evolution's usage, before anything is spent."""

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
"""The teams that an operator reads about, with their results."""
LEAST_READ = 200
"""The fewest tokens of an operator's instructions."""


def asked_once(model: Model | None) -> Estimate:
    """Return an estimate for one call of an operator or a judge."""
    bounds = Bounds.of(model)
    each = bounds.team_characters + bounds.digest_tokens * CHARACTERS_PER_TOKEN
    shown = TEAMS_SHOWN * each + 2 * bounds.task_characters
    read = Range(least=LEAST_READ, most=tokens_in(shown) + bounds.answer_tokens)
    return of_call(model, read, Range(least=1, most=bounds.answer_tokens))


def judged(model: Model | None, least: float, most: float | None) -> Estimate:
    """Return an estimate for judgements, each with at most one repair.

    Args:
        most: The most answers to judge; None: unknown.
    """
    return asked_once(model) * Range(least=least, most=None if most is None else MOST_CALLS * most)


def evolution(start: EvolutionStart, tasks: Sequence[Task]) -> Estimate:
    """Return an estimate for an evolution: at the least, one team runs once on each task.

    There is an upper bound if the strategy bounds its calls. New teams are assumed to be no larger
    than the current ones.

    Args:
        tasks: The remaining tasks of its stream.
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
    """Return an estimate for any team of an evolution that runs once on each task.

    New teams are assumed to be no larger than the current ones.
    """
    return any_of(estimate(plan, tasks) for plan in _plans(start))


def _plans(start: EvolutionStart) -> list[Plan]:
    return [compile(team, start.catalogue) for team in start.teams_at_work]
