"""The rule by which a child's run reuses answers of its parents' runs."""

from __future__ import annotations

from ...schema.loading.recipe import Recipe, Reuse
from .strategy import strategy_of

REUSES = {
    "auto": "children reuse their parents' answers where models take a seed, or have temperature 0",
    "always": "children reuse their parents' answers, and share their luck",
    "never": "children are run as a whole",
}
"""The description of each rule."""


def reuse_of(recipe: Recipe) -> Reuse:
    """Return a recipe's rule of reuse, which is `never` if seconds are a cost.

    A run that reuses answers takes less time, and nobody can say how much less. So if seconds
    reduce the reward, every run is made from scratch.
    """
    return "never" if recipe.beta and recipe.cost_unit == "seconds" else recipe.reuse


def told_reuse(recipe: Recipe) -> str:
    """Return the description of a recipe's reuse; "" if its strategy makes no children."""
    if not strategy_of(recipe.strategy).reuses:
        return ""
    way = reuse_of(recipe)
    return REUSES[way] + ("" if way == recipe.reuse else ", as seconds count (cost.unit)")
