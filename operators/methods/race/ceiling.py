"""The default ceiling for children of a team, used without a policy."""

from __future__ import annotations

from dataclasses import replace

from ....schema.loading.ceiling import SINGLE_CALL, CapabilityPolicy
from ....schema.team.team import Team

MORE_AGENTS = 6
"""Allows the largest of the small seeds, of seven agents, to replace one agent."""
MORE_EDGES = 12
"""Allows each new agent to hear two others; a debate of three has as many edges."""
MORE_TOKENS = 2
"""The factor by which the tokens of an answer may grow."""


def allowed_by_default(team: Team) -> CapabilityPolicy:
    """Return the ceiling for children of a team: it may grow a little, and gains no right.

    A child may have a few more agents that make at most one call, and answers of twice the
    length. It may use no tool, package or model that the team does not use.
    """
    own = CapabilityPolicy.of(team)
    return replace(
        own,
        agent_types=own.agent_types | frozenset(SINGLE_CALL.values()),
        backends=own.backends | frozenset(SINGLE_CALL),
        agents=len(team.agents) + MORE_AGENTS,
        edges=len(team.edges) + MORE_EDGES,
        max_tokens=own.max_tokens and own.max_tokens * MORE_TOKENS,
    )
