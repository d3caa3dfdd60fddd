"""The head of a pool: the one team that works and changes; its ancestors are its history."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....pool.ledger.changes import Added, Retired
from ....pool.ledger.scaffold import next_head
from ....schema.team.team import Lineage
from ....schema.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ....pool.ledger.changes import Change
    from ....pool.ledger.members import Member
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.team import Agent, Team
    from ...evolution.context import EvolutionContext
    from .settings import RetrospectiveSettings

BEGIN = "begin"


def head_of(members: Mapping[str, Member]) -> Member:
    """Return the head: the youngest active team without an active child.

    Args:
        members: The active teams by name, in the order of their births; at least one.
    """
    name = next_head(members)
    assert name is not None  # noqa: S101 - there is one
    return members[name]


def suits(
    _settings: RetrospectiveSettings, teams: Sequence[Team], _agents: Sequence[Agent], /
) -> Mapping[str, str]:
    """Return the problems of the settings in combination with a pool's active teams."""
    parents = {parent for team in teams if team.lineage for parent in team.lineage.parents}
    heads = [team.name for team in teams if team.name not in parents]
    if len(heads) < 2:
        return {}
    named = ", ".join(heads)
    return {
        "roster": (
            f"one team evolves, and there are {len(heads)}: {named}. Name one under seeds; in a"
            " pool that is there, retire the others with mas-pool retire."
        )
    }


def begin(context: EvolutionContext) -> Iterable[Change]:
    """Return the changes that give the head the recipe's roster and limits, if they differ.

    Raises:
        ConfigError: The head would then exceed the recipe's policy.
    """
    head = head_of(context.pool.members)
    if head.lineage.operator == BEGIN and head.lineage.run == context.name:  # `begin` ran before
        head = context.pool.teams[head.lineage.parents[0]]
    team = started(head.team, context.recipe.settings)
    if team == head.team:
        return ()
    if context.recipe.policy is not None and (
        problems := context.ceiling.problems(team, "settings")
    ):
        raise ConfigError(problems)
    reason = "its roster and its limits are those of the recipe."
    lineage = Lineage(operator=BEGIN, parents=(head.name,), reason=reason, run=context.name)
    return (Added(member=team, lineage=lineage), Retired(member=head.name, reason=reason))


def started(team: Team, settings: RetrospectiveSettings) -> Team:
    """Return a team with the roster and the limits of the recipe.

    They stay with the team from then on, also in a test.
    """
    execution, roster = team.execution, team.execution.roster
    if roster is not None:
        limits = {name: getattr(settings, name) for name in ("alive", "messages", "turns")}
        fields = {name: limit for name, limit in limits.items() if limit is not None}
        execution = replace(execution, roster=replace(roster, **fields))
    if settings.seconds is not None:
        execution = replace(execution, timeout=settings.seconds)
    team = replace(team, execution=execution)
    return closed(team) if settings.roster == "closed" else team


def closed(team: Team) -> Team:
    """Close an open roster: every agent works once on every task and reports to the lead."""
    roster = team.execution.roster
    if roster is None:
        return team
    return replace(
        team,
        reports_to={agent: (roster.lead,) for agent in team.agents if agent != roster.lead},
        declared_output=roster.lead,
        execution=replace(team.execution, roster=None),
    )


def constrained(team: Team, share: float) -> Team:
    """Return a team with a share of its time, messages and turns (§4.5).

    Args:
        share: The share, above 0 and at most 1.
    """
    if share == 1:
        return team
    execution, roster = team.execution, team.execution.roster
    if roster is not None:
        messages, turns = (max(1, int(share * most)) for most in (roster.messages, roster.turns))
        execution = replace(execution, roster=replace(roster, messages=messages, turns=turns))
    return replace(team, execution=replace(execution, timeout=share * execution.timeout))


def ceiling_for(team: Team, context: EvolutionContext) -> CapabilityPolicy:
    """Return the ceiling of a team: with room to grow, unless a policy sets its size."""
    most = max(len(team.agents), context.recipe.settings.most_agents)
    ceiling = context.ceiling
    if context.recipe.policy is None:
        return replace(ceiling, agents=most, edges=None, run_timeout=None, rounds=None)
    return replace(ceiling, agents=min(most, ceiling.agents or most))
