"""Draws teams of the library in place of the whole team, or of one of its agents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from .....schema.edits import diff, is_tied
from .....schema.host.models import DEFAULT_ALIAS
from .....schema.team.team import IMPLIED_BACKENDS, Agent, Team
from .answering import agents_that_ask, new_id
from .source import DrawnFrom, Sketch

Number = TypeVar("Number", int, float)


def seed(source: DrawnFrom) -> Iterator[Sketch]:
    """Replace the team, or an agent, by a seed, the smallest first; models and limits stay."""
    team = source.team
    for library_team in sorted(source.seeds, key=lambda seed: len(seed.agents)):
        fitted = _fitted(library_team, source)
        named = replace(
            fitted,
            name=team.name,
            constitution=team.constitution or fitted.constitution,
            successful_tasks=team.successful_tasks,
        )
        yield diff(team, named), f"Let {library_team.name} work in the place of {team.name}."
        if len(team.agents) > 1 and is_tied(team) and _can_stand_in(library_team):
            for agent in agents_that_ask(team):
                reason = f"Let {library_team.name} work in the place of {agent.id}."
                yield diff(team, _in_place(team, agent, fitted)), reason


def _can_stand_in(library_team: Team) -> bool:
    return is_tied(library_team) and library_team.execution.context == "predecessors"


def _fitted(library_team: Team, source: DrawnFrom) -> Team:
    """Return a seed whose agents use the team's models, within the limits of the ceiling."""
    execution, ceiling = library_team.execution, source.ceiling
    execution = replace(
        execution,
        timeout=_at_most(execution.timeout, ceiling.run_timeout),
        max_retries=_at_most(execution.max_retries, ceiling.max_retries),
    )
    model = next((agent.model_id for agent in agents_that_ask(source.team)), DEFAULT_ALIAS)
    agents = {
        agent.id: replace(
            agent,
            model_id=agent.model_id if agent.model_id in ceiling.models else model,
            max_tokens=_at_most(agent.max_tokens, ceiling.max_tokens),
            timeout=_at_most(agent.timeout or execution.timeout, ceiling.timeout),
        )
        if library_team.asks_model(agent)
        else agent
        for agent in library_team.agents.values()
    }
    return replace(library_team, agents=MappingProxyType(agents), execution=execution)


def _at_most(value: Number, limit: Number | None) -> Number:
    return value if limit is None else min(value, limit)


def _in_place(team: Team, outgoing: Agent, inner: Team) -> Team:
    """Return a team in which another team replaces an agent.

    Agents that reported to the agent report to all that begin the new team's work; its output agent
    reports to those to whom the agent reported.
    """
    names = {agent_id: new_id(f"{outgoing.id}_{agent_id}", team) for agent_id in inner.agents}
    outer = {agent_id: agent for agent_id, agent in team.agents.items() if agent_id != outgoing.id}
    agents = outer | {
        name: replace(inner.agents[old].renamed(name, names), backend=_backend(inner, old))
        for old, name in names.items()
    }
    starts = tuple(names[agent_id] for agent_id in inner.levels[0])
    around = {
        sender: tuple(
            name
            for receiver in receivers
            for name in (starts if receiver == outgoing.id else (receiver,))
        )
        for sender, receivers in team.reports_to.items()
        if sender != outgoing.id
    }
    within = {
        names[sender]: tuple(names[receiver] for receiver in receivers)
        for sender, receivers in inner.reports_to.items()
    }
    ends = names[inner.output]
    if receivers := team.reports_to.get(outgoing.id):
        within[ends] = receivers
    output = ends if team.output == outgoing.id else team.declared_output
    return replace(team, agents=agents, reports_to=around | within, declared_output=output)


def _backend(inner: Team, agent_id: str) -> str | None:
    """Return the backend of an agent as its team would write it."""
    agent = inner.agents[agent_id]
    return agent.backend if agent.agent_type in IMPLIED_BACKENDS else inner.backend_of(agent)
