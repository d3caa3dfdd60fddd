"""Recruiting: an agent chooses for a task who takes part (MATTRL §3.1, stage I, and App. B.2)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .carry import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..schema.team import Agent, Recruit, Team
    from .outcomes import AgentOutcome

__all__ = ["choice", "fallback", "held_to_choice", "notice_of_choosing", "notices_of_seats", "told"]

LONGEST_ROLE, LONGEST_EXPERTISE, LONGEST_REASON = 80, 300, 500
"""Characters of what a recruiter says."""

Choice = dict[str, str]
"""The agents that take part, as they were named; and for each what was said of its seat."""


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


def notice_of_choosing(team: Team, recruit: Recruit) -> Notice:
    """Show the agent that recruits whom it may choose: ids and roles, as they stand."""
    most = min(recruit.most, len(recruit.among))
    if recruit.free:
        return Notice(kind="seats", most=most)
    roles = {one: team.agents[one].role for one in recruit.among}
    lines = (
        f"- {one}: {' '.join(role.split())}" if role else f"- {one}" for one, role in roles.items()
    )
    return Notice(kind="catalogue", text="\n".join(lines), most=most)


def choice(recruit: Recruit, outcome: AgentOutcome) -> tuple[Choice, str]:
    """Read whom an agent has chosen, and why. Whom it names twice takes part once.

    Its output fits the schema, or it would have failed.
    """
    said = json.loads(outcome.result.content) if outcome.result else {}
    named: list[Any] = said["specialists"]
    if not recruit.free:
        return dict.fromkeys(named, ""), said["reason"]
    parts = (f"{one['role']}: {one['expertise']}" for one in named)
    return dict(zip(recruit.among, parts, strict=False)), said["reason"]


def fallback(recruit: Recruit) -> Choice:
    """Give who takes part where nobody has chosen: the first of the catalogue."""
    return dict.fromkeys(recruit.among[: recruit.most], "")


def notices_of_seats(chosen: Mapping[str, str]) -> Mapping[str, Notice]:
    """Show everyone who took a seat what was said of it."""
    return {one: Notice(kind="seat", text=text) for one, text in chosen.items() if text}


def told(team: Team, chosen: Mapping[str, str]) -> Mapping[str, str]:
    """Say of everyone who takes part what it is: its seat in the recruiter's words, or its role."""
    return {one: text or team.agents[one].role for one, text in chosen.items()}
