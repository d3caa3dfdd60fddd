"""Readers of operators' inputs from a pool: its teams, agents and population."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....pool.ledger.learnt import Learnt
from ....pool.ledger.members import Member
from ....pool.population.population import ANCHOR, Population
from ....pool.teams.pool import Pool
from ....pool.teams.sources import load_source
from ....schema.host.catalogue import Catalogue
from ....schema.team.task import Task
from ....schema.team.team import Agent, Team
from ....schema.values.errors import InputError
from ....schema.values.problems import quoted
from ....schema.values.terminal import counted
from ...core.proposal import edit_words
from ...methods.evochamber.compose import compose, seats
from ...methods.evochamber.leading import Leader, closest
from ...methods.evochamber.lifecycle.founding import founder
from ...methods.evochamber.lifecycle.rules import LifecycleEvent
from ...methods.evochamber.seating import STRUCTURES, fits, seat_of
from ...methods.evochamber.settings import PopulationSettings
from ...methods.search.consolidate import EvolutionStep
from ..arguments import learnt

MOST_HITS = 10


def hits(
    catalogue: Catalogue, pool: Pool, task: Task, embedder: str | None
) -> list[tuple[Learnt, float]]:
    """Search a pool's memory for similar tasks."""
    return learnt(pool, task, catalogue, embedder, MOST_HITS)


def steps(pool: Pool, task: Task) -> list[EvolutionStep]:
    """Return a task's evolution from the pool's lineage, parents before their children."""
    children = [member for member in pool.teams.values() if member.lineage.task == task.id]
    if not children:
        raise InputError(
            f"{pool.folder}: no team was created on task {task.id!r}. Use a task of an evolution."
        )
    parents = {name for member in children for name in member.lineage.parents}
    wanted = parents | {member.name for member in children}
    involved = [member for name, member in pool.teams.items() if name in wanted]
    numbers = {member.name: number for number, member in enumerate(involved, start=1)}
    return [_step(member, pool, task, numbers) for member in involved]


def _step(member: Member, pool: Pool, task: Task, numbers: Mapping[str, int]) -> EvolutionStep:
    trial = member.on_task(task.id)
    reward = None if trial is None else trial.score if trial.reward is None else trial.reward
    was_made_here = member.lineage.task == task.id
    parents = member.lineage.parents if was_made_here else ()
    return EvolutionStep(
        number=numbers[member.name],
        operator=member.lineage.operator if was_made_here else "select",
        team=member.name,
        content_hash=member.content_hash,
        reward=reward,
        parents=parents,
        sources=tuple(numbers[name] for name in parents),
        edits=edit_words(pool.teams[parents[0]].team, member.team) if parents else (),
        reason=member.lineage.reason if was_made_here else "",
    )


def chosen(
    population: Population,
    agent_names: tuple[str, ...],
    task: Task,
    team_size: int,
    seed: int | None,
) -> Mapping[str, str]:
    """Return the members by seat: the named agents, or those that EvoChamber chooses."""
    if agent_names:
        return dict(zip(seats(len(agent_names)), agent_names, strict=True))
    chance = random.Random(seed)  # noqa: S311 - guards nothing
    return compose(population, task.niche or "", team_size, PopulationSettings(), chance)


def leader(pool: Pool, population: Population, chosen: Mapping[str, str], task: Task) -> Leader:
    """Return the leader of a team of the population."""
    if strange := [name for name in chosen.values() if name not in population.agents]:
        listed = ", ".join(population.agents) or "none"
        raise InputError(
            f"{pool.folder}: no agent {strange[0]!r} is in this pool. Agents: {listed}."
        )
    agents = {name: member.agent for name, member in pool.agents.items()}
    return Leader.of(population, chosen, agents, task.niche or "")


def structures(
    catalogue: Catalogue, chosen: Mapping[str, str], structure_files: tuple[str, ...]
) -> Mapping[str, Team]:
    """Load the structures that work with the chosen members."""
    teams = [load_source(source, catalogue) for source in structure_files or STRUCTURES]
    fitting = {each.name: each for each in teams if fits(each, [*chosen])}
    if not fitting:
        raise InputError(f"no structure works with only {', '.join(chosen)}. Name more agents.")
    return fitting


def earlier_rounds(
    population: Population, leader: Leader, task: Task, bank: int
) -> list[tuple[Mapping[str, Any], float]]:
    """Return the most similar earlier choices of leaders."""
    return closest(population.rounds, leader.profile, task.niche or "", bank)


def seated_leader(pool: Pool, population: Population, team: Team, task: Task) -> Leader:
    """Return the leader of a team whose seats agents of the population filled."""
    members = {seat_of(agent.id): agent.member for agent in team.agents.values() if agent.member}
    seated = {seat: name for seat in sorted(filter(None, members)) if (name := members[seat])}
    if ANCHOR not in seated:
        raise InputError(
            f"{team.name}: no agent of a pool has the anchor's seat. Use a team from the pool's"
            " folder worked/."
        )
    return leader(pool, population, seated, task)


def pool_agent(pool: Pool, agent_id: str) -> tuple[Agent, ...]:
    """Return an agent of a pool."""
    return (_working(pool, agent_id),)


def pool_pair(pool: Pool, agent_id: str, other_agent_id: str) -> tuple[Agent, ...]:
    """Return two agents of a pool."""
    if agent_id == other_agent_id:
        raise InputError(f"{agent_id!r} cannot be merged with itself. Name two agents.")
    return _working(pool, agent_id), _working(pool, other_agent_id)


def founders(catalogue: Catalogue, founder_file: Path | None) -> tuple[Agent, ...]:
    """Return the agent that gives a new one everything but its persona."""
    settings = PopulationSettings(founder=None if founder_file is None else str(founder_file))
    return (founder(settings, Path(), catalogue),)


def _working(pool: Pool, name: str) -> Agent:
    member = pool.agent(name)
    if member.retired is not None:
        raise InputError(f"{name} is retired. Bring it back: mas-pool restore {pool.folder} {name}")
    return member.agent


def agent_event(
    operator: Any, population: Population, pool_agent: Sequence[Agent]
) -> LifecycleEvent:
    """Return the lifecycle event of a user's request for one agent."""
    return _event(operator, population, [agent.id for agent in pool_agent], None)


def pair_event(operator: Any, population: Population, pool_pair: Sequence[Agent]) -> LifecycleEvent:
    """Return the lifecycle event of a user's request for two agents."""
    return _event(operator, population, [agent.id for agent in pool_pair], None)


def niche_event(
    operator: Any, population: Population, pool_agent: Sequence[Agent], niche: str | None
) -> LifecycleEvent:
    """Return the lifecycle event of a user's request for one agent and a niche."""
    [name] = (agent.id for agent in pool_agent)
    niche = niche or population.agents[name].dominant
    if not niche:
        raise InputError(f"{name} has not worked on a task with a niche. Add --niche NICHE.")
    return _event(operator, population, [name], niche)


def founding_event(operator: Any, population: Population, any_niche: str | None) -> LifecycleEvent:
    """Return the lifecycle event of a user's request for a new agent."""
    return _event(operator, population, [], any_niche)


def _event(
    operator: Any, population: Population, names: Sequence[str], niche: str | None
) -> LifecycleEvent:
    standings = "; ".join(f"{name}: {_record_of(population, name)}" for name in names)
    why = f"asked for by a person{f' ({standings})' if standings else ''}"
    return LifecycleEvent(operator=operator, agents=tuple(names), niche=niche, why=why)


def _record_of(population: Population, name: str) -> str:
    of = population.agents[name]
    if of.rolling is None:
        return "it has not worked yet"
    did = f"rolling reward {of.rolling:.3g} over {counted(len(of.rewards), 'task')}"
    if not of.dominant:
        return did
    return f"{did}, competence {of.q(of.dominant):.3g} in {quoted(of.dominant)}"
