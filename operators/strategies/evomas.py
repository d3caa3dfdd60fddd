"""EvoMAS: select teams, adapt them to the task, then mutate and cross the promising ones.

Only the best of a task's k + n candidates may enter the pool, so the pool stays small and each team
in it was worth more on some task than those that it was made of. (EvoMAS §3.2.3)
"""

from __future__ import annotations

from itertools import count, repeat
from typing import TYPE_CHECKING

from ..candidates import Candidate
from ..choice import choose_move
from ..consolidate import consolidate
from ..crossover import can_cross, crossover
from ..decide import CROSSOVER
from ..instantiate import instantiate
from ..mutate import mutate
from ..proposal import Dropped, Proposal
from ..trying import together
from ..turn import Attempt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...pool.members import Member
    from ..turn import Turn

__all__ = ["evomas"]

MOST = 2
"""How many attempts a task may take for each candidate that it is to have."""


async def evomas(turn: Turn) -> None:
    """Evolve teams for one task.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The evolution's budget is used up.
    """
    recipe = turn.stage.recipe
    members = await turn.selected(recipe.select, recipe.parents)
    await turn.tried(*await together(*map(_adapted, repeat(turn), count(), members)))
    wanted = len(members) + recipe.steps if recipe.steps else 0
    attempt = len(members)
    while turn.candidates and len(turn.candidates) < wanted and attempt < MOST * wanted:
        made, parents = await _child(turn, attempt)
        await turn.tried(Attempt(attempt, made, parents))
        attempt += 1
    if recipe.memory:
        path = f"{turn.path}consolidate"
        learnt = await consolidate(turn.meta, path, turn.task, turn.steps())
        if isinstance(learnt, Dropped):
            turn.lose(attempt, learnt)
        else:
            turn.learnt = learnt


async def _adapted(turn: Turn, number: int, member: Member) -> Attempt:
    """Adapt a team to the task; where that fails, it is tried as it stands."""
    recipe = turn.stage.recipe
    if recipe.instantiate:
        made = await instantiate(
            turn.author,
            f"{turn.path}instantiate {number}",
            turn.task,
            turn.parent(member),
            components=recipe.components,
            memories=turn.memories,
        )
        if isinstance(made, Proposal):
            return Attempt(number, made, [member])
        turn.lose(number, made)
    return Attempt(number, member.team, [member])


async def _child(turn: Turn, number: int) -> tuple[Proposal | Dropped, Sequence[Candidate]]:
    """Make a child of a promising candidate, by a mutation or by crossing it with another one."""
    path, recipe = f"{turn.path}step {number}", turn.stage.recipe
    first = _parent(turn, number)
    partner = _partner(turn, number, first)
    move = await choose_move(turn, number, first, partner)
    if isinstance(move, Dropped):
        return move, [first]
    parent = turn.parent(first)
    if isinstance(move, Candidate):
        other = turn.parent(move)
        made = await crossover(turn.author, path, turn.task, parent, other, memories=turn.memories)
        return made, [first, move]
    made = await mutate(
        turn.author,
        path,
        turn.task,
        parent,
        component=move,
        components=recipe.components,
        memories=turn.memories,
    )
    return made, [first]


def _parent(turn: Turn, number: int) -> Candidate:
    """Take the candidate that a step begins with: by default any of the better half."""
    order = turn.promising(f"step {number}")
    match turn.stage.recipe.parent:
        case "best":
            return order[0]
        case "promising":
            order = order[: (len(order) + 1) // 2]
        case "chance":
            pass
    return turn.chance(f"step {number}/parent").choice(order)


def _partner(turn: Turn, number: int, first: Candidate) -> Candidate | None:
    """Find what a candidate is crossed with: the most promising that something new can come of.

    Candidates often descend from each other: a team and its own mutation have little to give each
    other, so those of different parents come first.
    """
    if CROSSOVER not in turn.stage.recipe.moves:
        return None
    others = [one for one in turn.promising(f"step {number}/partner") if one is not first]
    others.sort(key=lambda one: _are_related(first, one))
    return next((one for one in others if can_cross(first.team, one.team)), None)


def _are_related(one: Candidate, other: Candidate) -> bool:
    """Tell whether both go back to the same team of the pool."""
    return not {*one.born.parents}.isdisjoint(other.born.parents)
