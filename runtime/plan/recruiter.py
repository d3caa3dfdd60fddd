"""The agent that recruits: its output schema is made from its team."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Agent, Recruit

LONGEST_ROLE, LONGEST_EXPERTISE, LONGEST_REASON = 80, 300, 500
"""The most characters of each text that a recruiter writes."""


def held_to_choice(recruit: Recruit, agent: Agent) -> Agent:
    """Give the recruiter an output schema that is made from the team."""
    return replace(agent, output_schema=_schema(recruit))


def _schema(recruit: Recruit) -> Mapping[str, Any]:
    """Return the schema: a choice of the catalogue's ids, or a description of each seat."""
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
