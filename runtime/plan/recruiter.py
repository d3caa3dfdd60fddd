"""The agent that recruits: it is held to an output schema that is made from its team."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Agent, Recruit, Team

LONGEST_ROLE, LONGEST_EXPERTISE, LONGEST_REASON = 80, 300, 500
"""Characters of what a recruiter says."""


def held_to_choice(team: Team, agent: Agent) -> Agent:
    """Hold the agent that recruits to an output schema that is made from the team."""
    recruit = team.execution.recruit
    if recruit is None or agent.id != recruit.by:
        return agent
    return replace(agent, output_schema=_schema(recruit))


def _schema(recruit: Recruit) -> Mapping[str, Any]:
    """Let it name some of the catalogue, each by its id, or say who is to take the seats."""
    item: Mapping[str, Any] = {"type": "string", "enum": [*recruit.among]}
    if recruit.free:
        item = _object(role=_text(LONGEST_ROLE, 1), expertise=_text(LONGEST_EXPERTISE, 1))
    most = min(recruit.most, len(recruit.among))
    named = {"type": "array", "items": item, "minItems": 1, "maxItems": most}
    return _object(specialists=named, reason=_text(LONGEST_REASON))


def _object(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    shape = {"type": "object", "properties": properties, "required": [*properties]}
    return {**shape, "additionalProperties": False}


def _text(most: int, least: int = 0) -> Mapping[str, Any]:
    return {"type": "string", "maxLength": most, **({"minLength": least} if least else {})}
