"""Members that work on the team's task alone: own attempts, and attempts with an insight.

Critics, and members that work on a part, give no answer of their own, so nothing shows which of
them can solve the task. EvoChamber §3.5 assumes that every member has its own attempt; it is made
here.
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
"""The position of a member that answers alone, if the pool has no vote."""


def alone(episode: Episode, team: Team, member: str) -> Team:
    """Return a team of one member that answers the task, as it would in a vote."""
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
    """Return the position of a member that answers the task without input from other agents.

    Args:
        structures: The teams of a pool; not all of them need be structures.
    """
    for team in structures:
        for position in answering(team, team.output):
            if seat_of(position) and not team.predecessors[position]:
                return team.agents[position]
    return ANSWERING


async def own_attempts(
    episode: Episode, seated: Seated, attempts: Sequence[MemberAttempt], reward: float
) -> tuple[MemberAttempt, ...]:
    """Return the attempts, plus one by each member without any if the recipe wants that.

    Args:
        attempts: The members' attempts in the team, scored.
        reward: The reward of the team's answer, in [0, 1].
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
