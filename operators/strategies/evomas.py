"""EvoMAS: select teams, adapt them to the task, then mutate and cross the promising ones.

Only the best of a task's k + n candidates enters the pool, so the pool stays small and each team in
it has solved something best. (EvoMAS §3.2.3)
"""

from __future__ import annotations

import asyncio
from itertools import combinations, count, repeat
from typing import TYPE_CHECKING

from ..chance import chance
from ..components import ByChance, open_components
from ..consolidate import consolidate
from ..crossover import can_cross, crossover
from ..instantiate import instantiate
from ..mutate import mutate
from ..proposal import Dropped, Proposal
from ..turn import Attempt

if TYPE_CHECKING:
    from ...pool.members import Member
    from ...schema.edits import Component
    from ..candidates import Candidate
    from ..turn import Turn

__all__ = ["evomas"]


async def evomas(turn: Turn) -> None:
    """Evolve teams for one task.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The evolution's budget is used up.
    """
    recipe = turn.stage.recipe
    asks_model = recipe.operators == "model"
    members = await turn.selected(turn.meta if asks_model else None, recipe.parents)
    await turn.tried(*await asyncio.gather(*map(_adapted, repeat(turn), count(), members)))
    for step in range(recipe.steps):
        made, parents = await _child(turn, step)
        await turn.tried(Attempt(len(members) + step, made, parents))
    learnt = await consolidate(
        turn.meta if asks_model else None, f"{turn.path}consolidate", turn.task, turn.steps()
    )
    if isinstance(learnt, Dropped):
        turn.lose(len(members) + recipe.steps, learnt)
    else:
        turn.learnt = learnt


async def _adapted(turn: Turn, number: int, member: Member) -> Attempt:
    """Adapt a team to the task; where that fails, it is tried as it stands."""
    recipe = turn.stage.recipe
    if recipe.instantiate and recipe.operators == "model":
        path, parent = f"{turn.path}instantiate {number}", turn.parent(member)
        made = await instantiate(turn.meta, path, turn.task, parent, memories=turn.memories)
        if isinstance(made, Proposal):
            return Attempt(number, made, [member])
        turn.lose(number, made)
    return Attempt(number, member.team, [member])


async def _child(turn: Turn, step: int) -> tuple[Proposal | Dropped, list[Candidate]]:
    """Make a child of the most promising candidates: early by mutation, later by crossover.

    Candidates often descend from each other: a team and its own mutation have little to give each
    other, so candidates of different parents are crossed first. Those that nothing new can come of
    are not crossed.
    """
    path = f"{turn.path}step {step}"
    promising = turn.promising(f"step {step}")
    pairs = sorted(combinations(promising, 2), key=lambda pair: _are_related(*pair))
    pair = next((pair for pair in pairs if can_cross(*(one.team for one in pair))), None)
    if pair and turn.chance(f"step {step}/operator").random() < _share(turn, step):
        first, second = (turn.parent(one) for one in pair)
        made = await crossover(turn.meta, path, turn.task, first, second, memories=turn.memories)
        return made, [*pair]
    best = promising[0]
    component = _component(turn, step, best)
    if component is None:
        why = "there is nothing in it that the recipe lets mutations touch."
        return Dropped(operator="mutate", reason=why), [best]
    if turn.stage.recipe.operators == "chance":
        stage = turn.stage
        seed = stage.recipe.seed
        return chance(best.team, component, stage.catalogue, stage.ceiling, path=path, seed=seed), [
            best
        ]
    parent, memories = turn.parent(best), turn.memories
    made = await mutate(turn.meta, path, turn.task, parent, component=component, memories=memories)
    return made, [best]


def _are_related(one: Candidate, other: Candidate) -> bool:
    """Tell whether both go back to the same team of the pool."""
    return not {*one.born.parents}.isdisjoint(other.born.parents)


def _share(turn: Turn, step: int) -> float:
    """Give the chance of a crossover: specialised parents come with time (EvoMAS App. D.3)."""
    first, last = turn.stage.recipe.crossover
    if turn.stage.recipe.operators == "chance":
        return 0.0
    steps = turn.stage.recipe.steps
    return first + (last - first) * (step / (steps - 1) if steps > 1 else 0)


def _component(turn: Turn, step: int, parent: Candidate) -> Component | None:
    """Draw what a mutation touches, among what the recipe allows and the team has to change."""
    wanted: tuple[Component, ...] = turn.stage.recipe.components
    open_to = open_components(turn.meta, turn.parent(parent))
    found: list[Component] = [one for one in open_to if one in wanted]
    policy = ByChance(seed=turn.stage.recipe.seed)
    return policy.choose(f"{turn.path}step {step}", step, found) if found else None
