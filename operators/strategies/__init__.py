"""Strategies: loops that say which operator acts when, one screen each; found by entry point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.catalogue import installed, load_named
from ...schema.errors import InputError
from ...schema.hints import did_you_mean
from ..trying import is_judged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...schema.recipe import Recipe
    from ...schema.task import Task
    from ..stage import Strategy

__all__ = ["BASELINES", "asked_models", "strategy_of"]

BASELINES = frozenset({"best_of_n", "fixed"})
"""Those of ours that ask no meta-model."""


def strategy_of(name: str) -> Strategy:
    """Find a strategy by the name that recipes write.

    Raises:
        InputError: No installed package gives it, or it cannot be imported.
    """
    known = installed("strategies")
    if name not in known:
        hint = did_you_mean(name, known) or f" Known: {', '.join(sorted(known))}."
        raise InputError(f"no strategy {name!r}.{hint}")
    return load_named("strategies", name)


def asked_models(recipe: Recipe, tasks: Iterable[Task]) -> frozenset[str]:
    """Name the aliases of the models that operators and the judge may ask.

    Those that agents ask are not among them: they follow from the teams.
    """
    asked: set[str] = set()
    if any(is_judged(recipe, task) for task in tasks):
        asked.add(recipe.judge_model or recipe.meta_model)
    writes = recipe.operators == "model" and (recipe.instantiate or recipe.steps > 0)
    chooses = recipe.select == "model" or (recipe.choice == "model" and recipe.steps > 0)
    if recipe.strategy not in BASELINES and (writes or chooses or recipe.memory > 0):
        asked.add(recipe.meta_model)
    return frozenset(asked)
