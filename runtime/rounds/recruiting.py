"""Recruiting: an agent chooses for a task who takes part (MATTRL §3.1, stage I, and App. B.2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..agents.round_state import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Recruit, Team
    from ..agents.outcomes import AgentOutcome

Choice = dict[str, str]
"""The agents that take part, as they were named; and for each what was said of its seat."""


def notice_of_choosing(team: Team, recruit: Recruit) -> Notice:
    """Show the agent that recruits whom it may choose: ids and roles, as they stand."""
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
    """Read whom an agent has chosen, and why. Whom it names twice takes part once.

    Its output fits the schema, or it would have failed.
    """
    fields = json.loads(outcome.result.content) if outcome.result else {}
    named: list[Any] = fields["specialists"]
    if not recruit.free:
        return dict.fromkeys(named, ""), fields["reason"]
    parts = (f"{item['role']}: {item['expertise']}" for item in named)
    return dict(zip(recruit.among, parts, strict=False)), fields["reason"]


def fallback(recruit: Recruit) -> Choice:
    """Return who takes part where nobody has chosen: the first of the catalogue."""
    return dict.fromkeys(recruit.among[: recruit.most], "")


def notices_of_seats(chosen: Mapping[str, str]) -> Mapping[str, Notice]:
    """Show everyone who took a seat what was said of it."""
    return {name: Notice(kind="seat", text=text) for name, text in chosen.items() if text}


def seat_descriptions(team: Team, chosen: Mapping[str, str]) -> Mapping[str, str]:
    """Say of everyone who takes part what it is: its seat in the recruiter's words, or its role."""
    return {name: text or team.agents[name].role for name, text in chosen.items()}
