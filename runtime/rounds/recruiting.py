"""Recruiting: an agent chooses the participants for a task (MATTRL §3.1, stage I, and App. B.2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..agents.round_state import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Recruit, Team
    from ..agents.outcomes import AgentOutcome

Choice = dict[str, str]
"""The participants in the order in which they were named, with each seat's description."""


def notice_of_choosing(team: Team, recruit: Recruit) -> Notice:
    """Show the recruiter the ids and roles that it may choose from, unchanged."""
    most = min(recruit.most, len(recruit.among))
    if recruit.free:
        return Notice(kind="seats", most=most)
    roles = {name: team.agents[name].role for name in recruit.among}
    lines = (
        f"- {name}: {' '.join(role.split())}" if role else f"- {name}"
        for name, role in roles.items()
    )
    return Notice(kind="catalogue", text="\n".join(lines), most=most)


def choice(recruit: Recruit, outcome: AgentOutcome) -> tuple[Choice, str]:
    """Return the recruiter's choice and its reason. An agent that it names twice takes part once.

    Its output fits the schema, or it would have failed.
    """
    fields = json.loads(outcome.result.content) if outcome.result else {}
    named: list[Any] = fields["specialists"]
    if not recruit.free:
        return dict.fromkeys(named, ""), fields["reason"]
    parts = (f"{item['role']}: {item['expertise']}" for item in named)
    return dict(zip(recruit.among, parts, strict=False)), fields["reason"]


def fallback(recruit: Recruit) -> Choice:
    """Return the participants if the recruiter failed: the first agents of the catalogue."""
    return dict.fromkeys(recruit.among[: recruit.most], "")


def notices_of_seats(chosen: Mapping[str, str]) -> Mapping[str, Notice]:
    """Show every recruited agent the description of its seat."""
    return {name: Notice(kind="seat", text=text) for name, text in chosen.items() if text}


def seat_descriptions(team: Team, chosen: Mapping[str, str]) -> Mapping[str, str]:
    """Describe every participant: by the recruiter's words for its seat, or by its role."""
    return {name: text or team.agents[name].role for name, text in chosen.items()}
