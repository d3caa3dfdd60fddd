"""The team that TacoMAS begins with, and the same team unadapted: the control of a test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....pool.expectation.expectation import by_standing
from ....schema.values.errors import InputError

if TYPE_CHECKING:
    from ....schema.team.team import Team
    from ...evolution.episode import Episode

SOLVE = "solve"
NOT_BESIDE = {
    "rounds": "repeats by itself (execution.rounds), and tacomas repeats it as well.",
    "recruit": "recruits by itself (execution.recruit), and tacomas has all its agents work.",
    "roster": "has an open roster (execution.roster), and tacomas has all its agents work.",
}


async def unadapted(episode: Episode) -> None:
    """Let the same team work on a task once, unchanged."""
    episode.answered(await episode.run(given_team(episode), SOLVE))


def given_team(episode: Episode) -> Team:
    """Take the team of the pool that is expected to score most on such a task."""
    best, *_ = by_standing(episode.view.members.values(), episode.task.niche)
    team = best.team
    for field, why in NOT_BESIDE.items():
        if getattr(team.execution, field) is not None:
            raise InputError(f"{team.name} {why} Leave execution.{field} out.")
    return replace(team, lineage=None, successful_tasks=())
