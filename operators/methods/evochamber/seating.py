"""Seats: who of a population takes which place in a structure, and the team file that comes of it.

A structure is a team whose agents are seats. `anchor`, `complement`, `scout`, and `scout_2`,
`scout_3` … where a team is larger, are seats; an agent of that id, or of one like `anchor_again`,
is a position of the seat; an agent of the type Function belongs to nobody.
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
"""The folder of a pool in which teams are kept that worked."""
DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Seated:
    """A structure whose seats are taken.

    Attributes:
        team: The team that works: an ordinary one.
        seats: Who sits where, by the names in the pool; the anchor first. A seat for which the
            structure has no position is not there.
    """

    structure: str
    team: Team
    seats: Mapping[str, str]


def seats(template: Team) -> tuple[str, ...]:
    """Name the seats that a structure calls for, in the order in which they are taken.

    Raises:
        InputError: It is no structure: it has no anchor, or an agent that is neither a seat nor a
            Function.
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
    """Return whether a structure works with the seats that are taken, be they few.

    It does where the position that answers is taken or belongs to nobody, and every other that
    hears of seats beside its own still hears of one.
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
    """Seat agents of a population in a structure.

    A position's prompt is the agent's, which is its persona, and then the position's own, which is
    what there is to do. Role and output schema are the position's, all else is the agent's. Where
    there are fewer seats than the structure calls for, the positions of the others go; where there
    are more, the positions of the scout are there once for each scout.

    Args:
        ceiling: What teams may ask for at most.

    Raises:
        ConfigError: The team does not load, or is above the ceiling.
        InputError: The structure is none, or does not work with so few.
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
    """Keep a team that worked as a file of a pool, named by what it holds, members included.

    A team that is there already is not written again, so that four hundred tasks of few teams come
    to few files.

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
    """Yield the seats beside its own that a position hears of, be it through a Function."""
    for name in team.predecessors[position]:
        if _is_function(team, name):
            yield from _others(team, name)
        elif (seat := seat_of(name)) and seat != seat_of(position):
            yield seat


def _spread(template: Team, occupied: Collection[str]) -> Team:
    """Have the scout's positions once for each scout that the structure does not name itself.

    Of two scouts, one hears of the other where the scout hears of the complement.
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
    """Have a role that names the seat name that of the copy."""
    return seat_of(copy) or "" if position.role == seat_of(position.id) else position.role


def _execution(execution: Execution, copies: Mapping[str, Sequence[str]]) -> Execution:
    """Have copies open, close and be recruited where that which they are copied from does."""

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
    """Take the positions of seats out that nobody takes."""
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
    """Return a position as a member of the population takes it; see `seated`."""
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
    """Tell the team who is in it, where that differs from what the structure's prompts may say."""
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
