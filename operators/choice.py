"""What a step of an evolution does to a team: a mutation, and of what, or a crossover.

In the paper the meta-model chooses, from what happened (EvoMAS §3.2.2, App. D.3). The other ways
are there to tell what that choice is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .components import ByChance, ByOutcome, BySchedule, open_components
from .decide import CROSSOVER, decide
from .proposal import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..schema.edits import Component
    from ..schema.recipe import Recipe
    from .candidates import Candidate
    from .components import ComponentPolicy
    from .turn import Turn

__all__ = ["choose_move"]


async def choose_move(
    turn: Turn, number: int, first: Candidate, partner: Candidate | None
) -> Component | Candidate | Dropped:
    """Choose what a step does.

    Args:
        turn: The turn, and with it what the recipe allows.
        number: Which step of the turn it is.
        first: The candidate that the step begins with.
        partner: What it could be crossed with, if anything.

    Returns:
        The component that a mutation is to touch, or the partner that is to be crossed with.

    Raises:
        CoterieError: As for `decide`.
    """
    recipe, path = turn.stage.recipe, f"{turn.path}step {number}"
    parent = turn.parent(first)
    allowed = recipe.components if "mutate" in recipe.moves else ()
    if recipe.choice == "model":
        move = await decide(
            turn.meta,
            f"{path}/decide",
            turn.task,
            parent,
            turn.parent(partner) if partner else None,
            components=allowed,
            memories=turn.memories,
        )
        if move != CROSSOVER:
            return move
    else:
        open_to = open_components(turn.author, parent, allowed)
        crosses = turn.chance(f"step {number}/operator").random() < _share(turn)
        if open_to and not (partner and crosses):
            return _policy(turn, recipe).choose(path, _step(turn), open_to)
    why = "there is nothing in it that the recipe lets mutations touch, and nothing to cross."
    return partner or Dropped(operator="mutate", reason=why)


def _policy(turn: Turn, recipe: Recipe) -> ComponentPolicy:
    match recipe.choice:
        case "schedule":
            return BySchedule()
        case "outcome":
            return ByOutcome(outcomes=(*turn.gains, *_gains(turn)))
        case _:
            return ByChance(seed=recipe.seed)


def _gains(turn: Turn) -> Iterator[tuple[Component, float]]:
    """Give what the mutations of this turn gained over their parents."""
    for one in turn.candidates:
        if one.component is not None:
            yield one.component, one.reward - turn.candidate(one.sources[0]).reward


def _share(turn: Turn) -> float:
    """Give the chance of a crossover: specialised parents come with time (EvoMAS App. D.3)."""
    first, last = turn.stage.recipe.crossover
    steps = turn.stage.recipe.steps
    return first + (last - first) * (min(1.0, _step(turn) / (steps - 1)) if steps > 1 else 0)


def _step(turn: Turn) -> int:
    """Count the children that the task has had."""
    return sum(bool(one.sources) for one in turn.candidates)
