"""The team that consults: the pool's, with a recipe's settings of its parts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ....pool.expectation.expectation import by_standing
from ....runtime.agents.outcomes import Score
from ....runtime.rounds.rounds import Ablation
from ....schema.values.errors import InputError
from ...core.roles import free_id
from .select import RIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from ....runtime.agents.outcomes import Run
    from ....schema.team.team import Agent, Team
    from ...evolution.episode import Episode
    from .experience import ExperienceSettings

LONGEST_ID = 60


def team_of(episode: Episode) -> Team:
    """Return the team of the pool with the highest expected score, apart from the single agent.

    Raises:
        InputError: There is no team but the single agent.
    """
    members = episode.view.members
    teams = [member for name, member in members.items() if name != episode.settings.route]
    if not teams:
        raise InputError(f"beside {episode.settings.route!r}, the pool has no team to consult.")
    best, *_ = by_standing(teams, episode.task.niche)
    return _as_set(episode, best.team)


def single_of(episode: Episode) -> Team | None:
    """Return the single agent that cases may be routed to; None without routing.

    Raises:
        InputError: The pool has no such team, or it has more than one agent.
    """
    name = episode.settings.route
    if name is None:
        return None
    if (member := episode.view.members.get(name)) is None or len(member.team.agents) != 1:
        raise InputError(
            f"route: {name!r} is no team of the pool that is a single agent. Add one to the seeds."
        )
    return _as_set(episode, member.team)


def _as_set(episode: Episode, team: Team) -> Team:
    """Disable recall while the team learns, or it would learn from itself (App. B.1)."""
    settings: ExperienceSettings = episode.settings
    return as_set(team, settings, recalls=settings.recalls or not episode.learning)


def as_set(team: Team, settings: ExperienceSettings, *, recalls: bool) -> Team:
    """Return a team with the recruiter's catalogue and the recall that a recipe sets.

    Args:
        recalls: Whether its agents recall anything (App. B.1: not while experience is built).
    """
    team = replace(team, lineage=None, successful_tasks=())
    if settings.catalogue and team.execution.recruit:
        team = _with_catalogue(team, settings.catalogue)
    agents = {name: _reading(agent, settings, recalls) for name, agent in team.agents.items()}
    return replace(team, agents=agents)


def _reading(agent: Agent, settings: ExperienceSettings, recalls: bool) -> Agent:
    if agent.recall is None or not recalls:
        return replace(agent, recall=None)
    of: Mapping[str | None, Literal["own", "pool"]] = {"shared": "pool", "own": "own"}
    recall = replace(
        agent.recall, first=settings.first, of=of.get(settings.experience, agent.recall.of)
    )
    return replace(agent, recall=recall)


def _with_catalogue(team: Team, roles: Sequence[str]) -> Team:
    """Replace the agents that may be recruited by one for each role."""
    recruit = team.execution.recruit
    assert recruit is not None  # noqa: S101 - as_set asks
    removed = {*recruit.among}
    seat = team.agents[recruit.among[0]]
    agents = {name: agent for name, agent in team.agents.items() if name not in removed}
    for role in roles:
        new = free_id(_id_of(role), agents)
        agents[new] = replace(seat, id=new, role=role, member=None)
    new_ids = tuple(name for name in agents if name not in team.agents or name in removed)
    edges: dict[str, tuple[str, ...]] = dict.fromkeys(new_ids, team.reports_to.get(seat.id, ()))
    for sender, readers in team.reports_to.items():
        if sender not in removed:
            stay = tuple(reader for reader in readers if reader not in removed)
            edges[sender] = (*stay, *(new_ids if seat.id in readers else ()))
    most = min(recruit.most, len(new_ids))
    execution = replace(team.execution, recruit=replace(recruit, among=new_ids, most=most))
    return replace(team, agents=agents, reports_to=edges, execution=execution)


def _id_of(role: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", role.lower()).strip("_0123456789")
    return words[:LONGEST_ID].strip("_") or "specialist"


def _pupils(team: Team) -> Sequence[str]:
    """Return the agents that answer first: opening agents that do not recruit."""
    rounds, recruit = team.execution.rounds, team.execution.recruit
    opening = rounds.opening if rounds else ()
    return [agent for agent in opening if recruit is None or agent != recruit.by]


async def pre_tested(episode: Episode, team: Team, label: str) -> tuple[Run, Score] | None:
    """Let the opening agent answer alone; return its run if that answer is right.

    If it is not, the run of the whole team finds its answer in the journal.
    """
    [pupil] = _pupils(team)
    others = frozenset(team.agents) - {pupil}
    await episode.passes(team, label, silent=Ablation(agents=others))
    run = episode.recorded_run(label)
    result = run.agents[pupil].result
    if result is None:
        return None
    answer = result.content if result.answer is None else result.answer
    success = {"status": "done", "error": None, "fault": None, "score": None}
    run = replace(run, answer=answer, answered_by=pupil, **success)
    score = await episode.verdict(run, "pre_test")
    right = isinstance(score, Score) and score.value >= RIGHT
    episode.note("pre_test", agent=pupil, right=right)
    episode.figures["pre-test right"] = float(right)
    return (run, score) if isinstance(score, Score) and right else None


def suits(
    settings: ExperienceSettings, teams: Sequence[Team], _agents: Sequence[Agent], /
) -> Mapping[str, str]:
    """Return the settings that have no effect on the pool's teams, by field."""
    consulting = [team for team in teams if team.name != settings.route]
    wrong: dict[str, str] = {}
    for team in consulting:
        recruit, pupils = team.execution.recruit, _pupils(team)
        if settings.pre_test == "skip_right" and len(pupils) != 1:
            wrong["pre_test"] = (
                f"{team.name} has {len(pupils)} agents that open and do not recruit; a pre-test"
                " needs exactly one under execution.rounds.opening."
            )
        if settings.catalogue and (recruit is None or recruit.free):
            why = "names roles in free words" if recruit else "recruits nobody"
            wrong["catalogue"] = f"{team.name} {why}; a catalogue needs execution.recruit."
    return wrong
