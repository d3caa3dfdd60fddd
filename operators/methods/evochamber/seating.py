"""Seats: which agent of a population fills which seat of a structure, and the resulting team.

A structure is a team whose agents are seats: `anchor`, `complement`, `scout`, and in larger teams
`scout_2`, `scout_3` … An agent with such an id, or one like `anchor_again`, is a position of that
seat. An agent of the type Function belongs to no seat.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from ....pool.population.population import ANCHOR
from ....pool.population.seats import seat_of
from ....schema.edits import RejectedEdits, RemoveAgent, apply
from ....schema.host.catalogue import Catalogue
from ....schema.loading.ceiling import CapabilityPolicy
from ....schema.loading.loading import check_team
from ....schema.team.team import Agent, Execution, Recall, Team
from ....schema.team.writing import dump
from ....schema.values.errors import ConfigError, InputError
from ....schema.values.files import make_folder, write_atomically
from ...core.roles import with_text
from .compose import COMPLEMENT, SCOUT
from .settings import PopulationSettings

__all__ = ["STRUCTURES", "Seated", "filled", "fits", "keep_team", "seat_of", "seated", "seats"]

STRUCTURES = tuple(
    f"seed:seats_{name}" for name in ("voting", "debate", "generator_critic", "decompose")
)
"""The structures of EvoChamber §3.4, as `seeds` of a recipe."""
WORKED = "worked"
"""The folder of a pool for the teams that worked."""
DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Seated:
    """A structure whose seats are filled.

    Attributes:
        seats: The agents' names in the pool by seat, the anchor first. Seats without a position in
            the structure are left out.
    """

    structure: str
    team: Team
    seats: Mapping[str, str]


def seats(template: Team) -> tuple[str, ...]:
    """Return the seats of a structure, in the order in which they are filled.

    Raises:
        InputError: It is not a structure: it has no anchor, or an agent that is neither a seat nor
            a Function.
    """
    named = {
        agent: seat_of(agent) for agent in template.agents if not _is_function(template, agent)
    }
    if strange := [name for name, seat in named.items() if seat is None]:
        raise InputError(
            f"{template.name} is no structure of a population: {', '.join(strange)} is no seat."
            " Agents are Functions, or are called anchor, complement, scout or scout_2, perhaps"
            " with a word after it: anchor_again."
        )
    if ANCHOR not in named.values():
        raise InputError(
            f"{template.name} is no structure of a population: it has no anchor. Call the agent"
            " that leads the others anchor."
        )
    return tuple(sorted({seat for seat in named.values() if seat}, key=_rank))


def fits(template: Team, occupied: Collection[str]) -> bool:
    """Return whether a structure works with the occupied seats, even if some are empty.

    The position that answers must be occupied or belong to no seat. Every other position that reads
    reports of other seats must still read at least one.
    """
    called = seats(template)
    if called[0] not in occupied or seat_of(template.output) not in {None, *occupied}:
        return False
    working = (agent for agent in template.agents if seat_of(agent) in {None, *occupied})
    neighbours = ({*_others(template, name)} for name in working)
    return all(others & {*occupied} for others in neighbours if others)


def seated(
    template: Team,
    members: Mapping[str, Agent],
    settings: PopulationSettings,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy | None = None,
) -> Seated:
    """Return a team with agents of a population in the seats of a structure.

    The prompt of a position is the agent's own prompt, its persona, followed by the position's
    instructions. Role and output schema are the position's; everything else is the agent's.
    Positions of empty seats are removed. The scout's positions are copied for each additional
    scout.

    Raises:
        ConfigError: The team does not load, or exceeds the ceiling.
        InputError: It is not a structure, or it does not work with so few members.
    """
    if not fits(template, members):
        raise InputError(
            f"{template.name} does not work with {', '.join(members) or 'nobody'}: its answer needs"
            f" seats that are not taken. It calls for {', '.join(seats(template))}."
        )
    empty = _without(_spread(template, members), members, catalogue)
    agents = {
        agent.id: agent if seat is None else filled(agent, members[seat], settings, catalogue)
        for agent in empty.agents.values()
        for seat in [None if _is_function(empty, agent.id) else seat_of(agent.id)]
    }
    team = replace(
        empty,
        agents=MappingProxyType(agents),
        constitution=_rules(template, empty),
        successful_tasks=(),
        lineage=None,
    )
    _check(team, catalogue, ceiling)
    there = {seat: members[seat].id for seat in seats(empty)}
    return Seated(structure=template.name, team=team, seats=MappingProxyType(there))


def keep_team(folder: Path, team: Team) -> str:
    """Write a team that worked into a pool, under a digest of its content, members included.

    A team that is already there is not written again: four hundred tasks of few teams need few
    files.

    Returns:
        The file's path in the pool, with `/`.
    """
    text = dump(team)
    path = f"{WORKED}/{hashlib.sha256(text.encode()).hexdigest()[:DIGITS]}.yaml"
    if not (folder / path).exists():
        make_folder(folder / WORKED)
        write_atomically(folder / path, text)
    return path


def _rank(seat: str) -> tuple[int, int]:
    name, _, number = seat.partition("_")
    return (ANCHOR, COMPLEMENT, SCOUT).index(name), int(number or 1)


def _is_function(team: Team, agent: str) -> bool:
    return not team.asks_model(team.agents[agent])


def _others(team: Team, position: str) -> Iterator[str]:
    """Yield the other seats whose reports a position reads, also through a Function."""
    for name in team.predecessors[position]:
        if _is_function(team, name):
            yield from _others(team, name)
        elif (seat := seat_of(name)) and seat != seat_of(position):
            yield seat


def _spread(template: Team, occupied: Collection[str]) -> Team:
    """Copy the scout's positions for each scout that the structure does not name itself.

    A scout reads another scout's reports wherever the scout reads the complement's.
    """
    own_seats = seats(template)
    more = sorted((name for name in occupied if _rank(name)[0] == _rank(SCOUT)[0]), key=_rank)
    more = [name for name in more if name not in own_seats] if SCOUT in own_seats else []
    scout = [agent for agent in template.agents if seat_of(agent) == SCOUT]
    copies = {
        agent: [agent, *(f"{seat}{agent.removeprefix(SCOUT)}" for seat in more)]
        if agent in scout
        else [agent]
        for agent in template.agents
    }
    edges = [
        (a, b)
        for u, v in template.edges
        for a, b in itertools.product(copies[u], copies[v])
        if u not in scout
        or v not in scout
        or seat_of(a) == seat_of(b)
        or (u.replace(SCOUT, COMPLEMENT, 1), v) in template.edges
    ]
    agents = [
        replace(template.agents[name], id=copy, role=_role(template.agents[name], copy))
        for name, places in copies.items()
        for copy in places
    ]
    return replace(
        template,
        agents=MappingProxyType({agent.id: agent for agent in agents}),
        reports_to=MappingProxyType(
            {
                agent.id: receivers
                for agent in agents
                if (receivers := tuple(b for a, b in edges if a == agent.id))
            }
        ),
        execution=_execution(template.execution, copies),
    )


def _role(position: Agent, copy: str) -> str:
    """Return the role of a copied position; a role that names the seat names the new seat."""
    return seat_of(copy) or "" if position.role == seat_of(position.id) else position.role


def _execution(execution: Execution, copies: Mapping[str, Sequence[str]]) -> Execution:
    """Return the execution in which copies open, close and are recruited like their originals."""

    def spread(agents: Sequence[str]) -> tuple[str, ...]:
        return tuple(copy for agent in agents for copy in copies[agent])

    rounds, recruit = execution.rounds, execution.recruit
    if rounds is not None:
        opening, closing = spread(rounds.opening), spread(rounds.closing)
        hears = rounds.hears if isinstance(rounds.hears, str) else spread(rounds.hears)
        rounds = replace(rounds, hears=hears, opening=opening, closing=closing)
    if recruit is not None:
        recruit = replace(recruit, among=spread(recruit.among))
    return replace(execution, rounds=rounds, recruit=recruit)


def _without(team: Team, occupied: Collection[str], catalogue: Catalogue) -> Team:
    """Return a team without the positions of empty seats."""
    edits = [
        RemoveAgent(agent=agent)
        for agent in team.agents
        if not _is_function(team, agent) and seat_of(agent) not in occupied
    ]
    if not edits:
        return team
    result = apply(team, edits, catalogue)
    if isinstance(result, RejectedEdits):
        raise ConfigError(
            [replace(problem, file=f"{team.name}.yaml") for problem in result.problems]
        )
    return result


def filled(
    position: Agent, member: Agent, settings: PopulationSettings, catalogue: Catalogue
) -> Agent:
    """Return a position filled by a member of the population; see `seated`."""
    texts = (with_text(agent, catalogue).prompt.strip() for agent in (member, position))
    prompt = "\n\n".join(filter(None, texts))
    return replace(
        member.renamed(position.id, {}),
        role=position.role or member.role,
        prompt=f"{prompt}\n" if prompt else "",
        output_schema=position.output_schema,
        recall=_recall(settings),
        member=member.id,
    )


def _recall(settings: PopulationSettings) -> Recall | None:
    if not settings.lessons:
        return None
    kinds = ("lesson", "insight")
    return Recall(
        k=settings.lessons, of="own", kinds=kinds, niche=True, room=settings.room, each=True
    )


def _rules(template: Team, filled: Team) -> str:
    """Return the constitution, with the actual seats if they differ from the structure's."""
    there = seats(filled)
    if there == seats(template):
        return template.constitution
    text = f"The seats of this team, and no others, are {', '.join(there)}."
    return "\n".join(filter(None, (template.constitution.rstrip(), text)))


def _check(team: Team, catalogue: Catalogue, ceiling: CapabilityPolicy | None) -> None:
    file = f"{team.name}.yaml"
    _, problems = check_team(dump(team).encode("utf-8", "surrogatepass"), file, catalogue)
    problems += ceiling.problems(team, file) if ceiling else []
    if problems:
        raise ConfigError(problems)
