"""What evolution is compared with, in the same frame and at the same cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..turn import Attempt

if TYPE_CHECKING:
    from ..turn import Turn

__all__ = ["best_of_n", "fixed"]


async def fixed(turn: Turn) -> None:
    """Run every seed of the pool as it stands; with one seed, a single team on every task."""
    seeds = [one for one in turn.members.values() if not one.born.parents]
    await turn.tried(*(Attempt(number, one.team, [one]) for number, one in enumerate(seeds)))


async def best_of_n(turn: Turn) -> None:
    """Run selected teams as often as an evolution would run any, and keep the best: no edits.

    It costs what EvoMAS costs for its runs, and shows what trying again is worth by itself.
    """
    recipe = turn.stage.recipe
    members = await turn.selected("statistics", recipe.parents)
    runs = range(recipe.parents + recipe.steps)
    chosen = [(number, members[number % len(members)]) for number in runs]
    await turn.tried(*(Attempt(number, one.team, [one]) for number, one in chosen), again=True)
