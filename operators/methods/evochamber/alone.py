"""Members of a team at its task by themselves: own attempts, and attempts with an insight.

Critics and those who work on a part answer nothing themselves, so nobody could say who of them can
do the task. EvoChamber §3.5 takes it that every member has its own attempt; they make it here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....runtime.values.together import together
from ....schema.team.team import Agent, Team
from .attempts import MemberAttempt, answering
from .seating import filled, seat_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...evolution.episode import Episode
    from .seating import Seated

ANSWERING = Agent(id="alone", prompt="answer_for_team")
"""The position of a member that answers by itself, where the pool has no vote."""


def alone(episode: Episode, team: Team, member: str) -> Team:
    """Return a team of one in which a member answers the task, as it would in a vote.

    Args:
        team: The team in which the member worked.
    """
    person = episode.view.agents[member].agent
    position = in_a_vote(record.team for record in episode.view.members.values())
    agent = filled(position, person, episode.settings, episode.context.catalogue)
    execution = replace(team.execution, rounds=None, recruit=None)
    return Team(
        name=team.name,
        backend=team.backend,
        constitution=team.constitution,
        agents={agent.id: agent},
        execution=execution,
    )


def in_a_vote(structures: Iterable[Team]) -> Agent:
    """Return the position of a member that answers the task without hearing of anybody.

    Args:
        structures: The teams of a pool; some may be no structures.
    """
    for team in structures:
        for position in answering(team, team.output):
            if seat_of(position) and not team.predecessors[position]:
                return team.agents[position]
    return ANSWERING


async def own_attempts(
    episode: Episode, seated: Seated, attempts: Sequence[MemberAttempt], reward: float
) -> tuple[MemberAttempt, ...]:
    """Return attempts, and one more of each member that has none, where the recipe wants these.

    Args:
        attempts: What members answered in the team, with their scores.
        reward: What the team's answer was worth, in [0, 1].
    """
    if not _wanted(episode, reward):
        return (*attempts,)
    agents = {attempt.agent for attempt in attempts}
    lacking = [(seat, name) for seat, name in seated.seats.items() if name not in agents]
    result = await together(*(_own(episode, seated, seat, name) for seat, name in lacking))
    own = [attempt for attempt in result if attempt is not None]
    episode.figures["own attempts"] = len(own)
    return (*attempts, *own)


def _wanted(episode: Episode, reward: float) -> bool:
    settings = episode.settings
    is_due = settings.own_attempts == "always" or (
        settings.own_attempts == "after_failure" and reward < settings.theta
    )
    return settings.codream and is_due


async def _own(episode: Episode, seated: Seated, seat: str, name: str) -> MemberAttempt | None:
    what = f"own attempt {seat}"
    run = await episode.run(alone(episode, seated.team, name), what)
    if run.answer is None:
        return None
    score = episode.usable(await episode.score(run, what))
    return MemberAttempt(
        agent=name,
        seat=seat,
        position=seat,
        answer=run.answer,
        score=score and score.value,
        is_alone=True,
    )
