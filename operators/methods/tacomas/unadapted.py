"""The initial team of TacoMAS, and its unadapted run: the control of a test."""

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
    """Run the same team on a task once, unchanged."""
    episode.answered(await episode.run(given_team(episode), SOLVE))


def given_team(episode: Episode) -> Team:
    """Return the pool's team with the highest expected score in the task's niche."""
    best, *_ = by_standing(episode.view.members.values(), episode.task.niche)
    team = best.team
    for field, why in NOT_BESIDE.items():
        if getattr(team.execution, field) is not None:
            raise InputError(f"{team.name} {why} Leave execution.{field} out.")
    return replace(team, lineage=None, successful_tasks=())
