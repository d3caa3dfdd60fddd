"""MATTRL: agents consult each other, and what was worth most becomes their experience.

When learning, every utterance of a run is credited, and the best of all so far are kept: readable,
each with its case, agent, turn and credit. In a test the team consults with that experience, and
nothing is added. The teams of the pool stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ....pool.expectation.expectation import by_standing
from ....runtime.values.together import together
from ....schema.values.errors import InputError
from ...core.operator import operator_of
from ...core.proposal import RejectedProposal
from ...core.utterances import utterances
from ...evolution.strategy import Strategy
from ..search.settings import read_schema
from .ablation import place_of, silenced
from .appraise import appraised
from .distil import KIND
from .experience import ExperienceSettings, check, credited, earlier, kept, tell
from .routed import SINGLE, choose, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.values.score import Score
    from ....schema.team.team import Team
    from ...core.utterances import Utterance
    from ...evolution.episode import Episode
    from ...evolution.strategy import Need
    from .distil import Distilled
    from .experience import Credited

__all__ = ["MATTRL", "mattrl"]

CONSULT = "consult"


async def mattrl(episode: Episode) -> None:
    """Let a team consult about a task; when learning, keep what was worth most.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The budget is used up.
        InputError: The pool has no team as `route` names it, or none beside it.
    """
    settings: ExperienceSettings = episode.settings
    team, single = _team(episode), _single(episode)
    if single and not episode.learning:
        choice = await choose(episode, single, by=settings.router, gauged=settings.gauge)
        team = single if choice == SINGLE else team
    done = await episode.passes(team, CONSULT)
    run = episode.came(CONSULT)
    if not episode.learning:
        episode.answered(run)
        return
    outcome = await episode.score(run, place_of(CONSULT, run))
    if isinstance(outcome, RejectedProposal):
        episode.lose(outcome)
        episode.answered(run)
        return
    episode.answered(run, outcome)
    if single:
        await compare(episode, single, team, outcome, what=CONSULT, gauged=settings.gauge)
    if said := utterances(done):
        await _learn(episode, team, said, outcome)


def _team(episode: Episode) -> Team:
    """Take the team of the pool that is expected to do best, beside the single agent."""
    members = episode.view.members
    teams = [member for name, member in members.items() if name != episode.settings.route]
    if not teams:
        raise InputError(f"beside {episode.settings.route!r}, the pool has no team to consult.")
    best, *_ = by_standing(teams, episode.task.niche)
    return _forgetful(episode, best.team)


def _single(episode: Episode) -> Team | None:
    """Take the single agent that cases may be routed to."""
    name = episode.settings.route
    if name is None:
        return None
    if (member := episode.view.members.get(name)) is None or len(member.team.agents) != 1:
        raise InputError(
            f"route: {name!r} is no team of the pool that is a single agent. Add one to the seeds."
        )
    return _forgetful(episode, member.team)


def _forgetful(episode: Episode, team: Team) -> Team:
    """While it learns, let a team recall nothing, or it would learn from itself (App. B.1)."""
    team = replace(team, lineage=None, successful_tasks=())
    if not episode.learning or episode.settings.recalls:
        return team
    agents = {name: replace(agent, recall=None) for name, agent in team.agents.items()}
    return replace(team, agents=agents)


async def _learn(episode: Episode, team: Team, said: Sequence[Utterance], outcome: Score) -> None:
    """Credit what was said, distil the best of it, and keep that."""
    settings: ExperienceSettings = episode.settings
    place, rubric = f"{episode.path}{CONSULT}/", settings.rubric
    scores = await appraised(episode.judge, place, episode.task, said, episode.lose, rubric=rubric)
    tried = await silenced(episode, team, CONSULT, said) if settings.credit != "naive" else None
    if isinstance(tried, RejectedProposal):
        episode.lose(tried)
        return
    worth = tried.worth if tried else None
    of = credited(said, scores, outcome=outcome.value, settings=settings, worth=worth)
    before = earlier(episode.past)
    chosen = kept(of, settings, before)
    made = await together(*(_distilled(episode, credit) for credit in chosen))
    came = dict(zip((credit.utterance.turn for credit in chosen), made, strict=True))
    tell(episode, of, came, outcome=outcome.value, before=before, about=tried and tried.about)


async def _distilled(episode: Episode, one: Credited) -> Distilled | RejectedProposal:
    agent, number = one.utterance.turn
    path = f"{episode.path}{CONSULT}/round {number}/distil/{agent}"
    return await operator_of("distil").act(
        episode.meta, path, episode.task, one.utterance, score=one.score
    )


def _needs(_settings: ExperienceSettings, /) -> frozenset[Need]:
    return frozenset({"teams", "meta_model", "judge", "past"})


MATTRL = Strategy(
    name="mattrl",
    episode=mattrl,
    settings=ExperienceSettings,
    schema=read_schema(Path(__file__).with_name("mattrl.schema.json")),
    check=check,
    seeds=("seed:mathematics",),
    needs=_needs,
    keeps=lambda _settings: frozenset({KIND}),
)
