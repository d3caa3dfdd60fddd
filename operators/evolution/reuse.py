"""Which answers of its parents' runs a child's run may take, as its recipe says."""

from __future__ import annotations

from ...schema.loading.recipe import Recipe, Reuse
from .strategy import strategy_of

REUSES = {
    "auto": "children reuse their parents' answers where models take a seed, or have temperature 0",
    "always": "children reuse their parents' answers, and share their luck",
    "never": "children are run as a whole",
}
"""What each way means, in words."""


def reuse_of(recipe: Recipe) -> Reuse:
    """Return how a recipe's children reuse their parents' answers, where seconds are no cost.

    A run that was given its parent's answers takes less time than it needs, and nobody knows how
    much less: where seconds count against score, every run is made anew.
    """
    return "never" if recipe.beta and recipe.cost_unit == "seconds" else recipe.reuse


def told_reuse(recipe: Recipe) -> str:
    """Return how children reuse their parents' answers; nothing where a strategy makes none."""
    if not strategy_of(recipe.strategy).reuses:
        return ""
    way = reuse_of(recipe)
    return REUSES[way] + ("" if way == recipe.reuse else ", as seconds count (cost.unit)")
