"""Who scores a task: its own scorer by the reference answer, or a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runtime.outcomes import Run
    from ..schema.recipe import Recipe
    from ..schema.task import Task

__all__ = ["cost_of", "is_judged", "require_answers"]

MOST_NAMED = 10
"""Tasks that a message names."""


def is_judged(recipe: Recipe, task: Task) -> bool:
    """Tell whether a judge scores a task: always, or where there is no reference answer."""
    return recipe.score == "judge" or (recipe.score == "auto" and task.answer is None)


def require_answers(tasks: Sequence[Task]) -> None:
    """Make sure that every task can be scored by its reference answer.

    Raises:
        InputError: Some have none; the first of them are named.
    """
    without = [task.id for task in tasks if task.answer is None]
    if without:
        named = ", ".join(map(repr, without[:MOST_NAMED]))
        more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
        noun, verb = ("task", "has") if len(without) == 1 else ("tasks", "have")
        raise InputError(
            f"{noun} {named}{more} {verb} no answer to score against. Add one, or have a judge"
            " score: score: auto in a recipe, --scorer judge of mas-bench run."
        )


def cost_of(run: Run, recipe: Recipe) -> float:
    """Give a run's cost in the recipe's unit."""
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
