"""EvoMAS: select teams, adapt them to the task, then mutate and cross the promising ones.

A task has "up to n" steps (§3.2.3). They stop once a candidate's reward cannot be beaten, which may
be before the first step. Of a task's candidates, k + n at most, only the best may enter the pool,
so the pool stays small.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, repeat

from ....pool.ledger.members import Member
from ....runtime.values.together import together
from ...core.operator import operator_of
from ...core.proposal import Proposal, RejectedProposal
from ...evolution.candidates import Candidate
from ...evolution.episode import Episode
from ...evolution.strategy import Strategy
from ..search.choice import choose_move
from ..search.decide import CROSSOVER
from ..search.search import Search, SearchAttempt
from ..search.search_cost import MOST, calls_at_most
from ..search.settings import SCHEMA, SearchSettings, check, check_recipe
from .crossover import can_cross


async def evomas(episode: Episode) -> None:
    """Evolve teams for one task."""
    search = Search(episode=episode)
    settings = search.settings
    await search.remember()
    members = await search.selected(settings.select, settings.parents)
    await search.evaluate(*await together(*map(_adapted, repeat(search), count(), members)))
    wanted = len(members) + settings.steps if settings.steps else 0
    attempt = len(members)
    while 0 < len(search.candidates) < wanted and not search.is_over and attempt < MOST * wanted:
        proposal, parents = await _child(search, attempt)
        await search.evaluate(SearchAttempt(attempt, proposal, parents))
        attempt += 1
    if settings.memory:
        await search.consolidate(attempt)
    search.end()


async def _adapted(search: Search, number: int, member: Member) -> SearchAttempt:
    """Adapt a team to the task; without a valid answer, it is tried unchanged."""
    settings = search.settings
    if settings.instantiate:
        result = await operator_of("instantiate").act(
            search.author,
            f"{search.episode.path}instantiate {number}",
            search.episode.task,
            search.parent(member),
            components=settings.components,
            memories=search.memories,
        )
        if isinstance(result, Proposal):
            return SearchAttempt(number, result, [member])
        search.lose(number, result)
    return SearchAttempt(number, member.team, [member])


async def _child(
    search: Search, number: int
) -> tuple[Proposal | RejectedProposal, Sequence[Candidate]]:
    """Make a child of a promising candidate, by a mutation or by crossing it with another one."""
    episode, settings = search.episode, search.settings
    path = f"{episode.path}step {number}"
    first = _parent(search, number)
    partner = _partner(search, number, first)
    move = await choose_move(search, number, first, partner)
    if isinstance(move, RejectedProposal):
        return move, [first]
    parent = search.parent(first)
    if isinstance(move, Candidate):
        mate = search.parent(move)
        result = await operator_of("crossover").act(
            search.author, path, episode.task, parent, mate, memories=search.memories
        )
        return result, [first, move]
    result = await operator_of("mutate").act(
        search.author,
        path,
        episode.task,
        parent,
        component=move,
        components=settings.components,
        memories=search.memories,
    )
    return result, [first]


def _parent(search: Search, number: int) -> Candidate:
    """Return the candidate that a step starts from: by default a random one of the better half."""
    order = search.promising(f"step {number}")
    match search.settings.parent:
        case "best":
            return order[0]
        case "promising":
            order = order[: (len(order) + 1) // 2]
        case "chance":
            pass
    return search.episode.chance(f"step {number}/parent").choice(order)


def _partner(search: Search, number: int, first: Candidate) -> Candidate | None:
    """Return the most promising candidate that yields a new team in a crossover, if any.

    Candidates with other ancestors come first: a team and its own mutation have little to exchange.
    """
    if CROSSOVER not in search.settings.moves:
        return None
    ranked = search.promising(f"step {number}/partner")
    others = [candidate for candidate in ranked if candidate is not first]
    others.sort(key=lambda candidate: _are_related(first, candidate))
    return next((mate for mate in others if can_cross(first.team, mate.team)), None)


def _are_related(first: Candidate, second: Candidate) -> bool:
    """Return whether both descend from the same team of the pool."""
    return not {*first.lineage.parents}.isdisjoint(second.lineage.parents)


EVOMAS = Strategy(
    name="evomas",
    episode=evomas,
    settings=SearchSettings.of,
    schema=SCHEMA,
    check=check,
    check_recipe=check_recipe,
    needs=lambda settings: settings.needs,
    leaves_team=True,
    reuses=True,
    calls_at_most=calls_at_most,
)
