"""Who scores a task: its own scorer by the reference answer, or a judge."""

from __future__ import annotations

from ...runtime.agents.outcomes import Run
from ...schema.loading.recipe import Recipe
from ...schema.team.task import Task


def is_judged(recipe: Recipe, task: Task) -> bool:
    """Return whether a judge scores a task: always, or because its scorer cannot."""
    return recipe.score == "judge" or (recipe.score == "auto" and not task.is_scored)


def cost_of(run: Run, recipe: Recipe) -> float:
    """Return a run's cost in the recipe's unit."""
    match recipe.cost_unit:
        case "tokens":
            amount = float(run.usage.tokens)
        case "usd":
            amount = run.usage.usd
        case "calls":
            amount = float(run.usage.calls)
        case "seconds":
            amount = run.seconds
    return amount / recipe.cost_per
