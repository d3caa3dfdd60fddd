"""The move of a step of an evolution: a mutation of some component, or a crossover.

In the paper the meta-model chooses it from the traces (EvoMAS §3.2.2, App. D.3). The other ways of
choosing serve to measure the value of that choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.proposal import RejectedProposal
from .components import CHANGEABLE, MUTABLE, ByChance, ByOutcome, BySchedule, open_components
from .decide import CROSSOVER, decide

if TYPE_CHECKING:
    from ....schema.edits import Component
    from ...evolution.candidates import Candidate
    from .components import ComponentPolicy
    from .search import Search


async def choose_move(
    search: Search, number: int, first: Candidate, partner: Candidate | None
) -> Component | Candidate | RejectedProposal:
    """Choose the move of a step.

    Returns:
        The component to mutate, or the partner to cross with.
    """
    episode, settings = search.episode, search.settings
    path = f"{episode.path}step {number}"
    parent = search.parent(first)
    allowed = settings.components if "mutate" in settings.moves else ()
    if settings.choice == "model":
        move = await decide(
            episode.meta_model,
            f"{path}/decide",
            episode.task,
            parent,
            search.parent(partner) if partner else None,
            components=allowed,
            memories=search.memories,
        )
        if move != CROSSOVER:
            return move
    else:
        open_to = open_components(search.author, parent, allowed)
        crosses = episode.chance(f"step {number}/operator").random() < _share(search)
        if open_to and not (partner and crosses):
            return _policy(search).choose(path, _step(search), open_to)
    why = "there is nothing in it that the recipe lets mutations touch, and nothing to cross."
    return partner or RejectedProposal(operator="mutate", reason=why)


def _policy(search: Search) -> ComponentPolicy:
    match search.settings.choice:
        case "schedule":
            return BySchedule(stages=_stages(search))
        case "outcome":
            return ByOutcome(outcomes=tuple(search.gains()))
        case _:
            return ByChance(seed=search.episode.context.recipe.seed)


def _stages(search: Search) -> tuple[Component, ...]:
    """Return the components in turn; the roster comes last, if the recipe allows it."""
    return CHANGEABLE if "roster" in search.settings.components else MUTABLE


def _share(search: Search) -> float:
    """Return the probability of a crossover: it rises as parents specialise (EvoMAS App. D.3)."""
    first, last = search.settings.crossover
    steps = search.settings.steps
    return first + (last - first) * (min(1.0, _step(search) / (steps - 1)) if steps > 1 else 0)


def _step(search: Search) -> int:
    return sum(bool(candidate.sources) for candidate in search.candidates)
