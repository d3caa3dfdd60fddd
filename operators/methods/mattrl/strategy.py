"""MATTRL: agents consult each other, and their most valuable utterances become their experience.

When learning, every utterance of a run is credited. When all cases of a batch are done, the best
are stored readably, each with its case, agent, turn and credit. In a test the team consults with
that experience, and nothing is added. The teams of the pool stay unchanged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...core.utterances import utterances
from ...evolution.strategy import Strategy, read_schema
from .ablation import place_of, silenced
from .appraise import appraised
from .batch import CONSULT, keep_best
from .distil import KIND
from .experience import ExperienceSettings, check, credited, tell
from .routed import SINGLE, choose, compare
from .select import closing_calls
from .teams import pre_tested, single_of, suits, team_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.agents.outcomes import Score
    from ....schema.team.team import Team
    from ...core.utterances import Utterance
    from ...evolution.episode import Episode
    from ...evolution.strategy import Need


async def mattrl(episode: Episode) -> None:
    """Let a team consult about a task; when learning, credit each agent's utterances."""
    settings: ExperienceSettings = episode.settings
    team, single = team_of(episode), single_of(episode)
    if single and not episode.learning:
        choice = await choose(episode, single, by=settings.router, gauged=settings.gauge)
        team = single if choice == SINGLE else team
    tests = settings.pre_test == "skip_right" and team is not single
    if tests and (right := await pre_tested(episode, team, CONSULT)):
        episode.answered(*right)
        return
    rounds = await episode.passes(team, CONSULT)
    run = episode.recorded_run(CONSULT)
    if not episode.learning:
        episode.answered(run)
        return
    outcome = await episode.answer_scored(run, place_of(CONSULT, run))
    if outcome is None:
        return
    if single:
        await compare(episode, single, team, outcome, label=CONSULT, gauged=settings.gauge)
    if result := utterances(rounds):
        await _learn(episode, team, result, outcome)


async def _learn(
    episode: Episode, team: Team, utterances_of: Sequence[Utterance], outcome: Score
) -> None:
    """Credit the utterances."""
    settings: ExperienceSettings = episode.settings
    place, rubric = f"{episode.path}{CONSULT}", settings.rubric
    judged = await appraised(episode.judge, place, episode.task, utterances_of, rubric=rubric)
    for lost in judged.rejected:
        episode.lose(lost)
    worth, about = None, None
    if settings.credit != "naive":
        counterfactual = episode.usable(await silenced(episode, team, CONSULT, utterances_of))
        if counterfactual is None:
            return
        worth, about = counterfactual.worth, counterfactual.about
    of = credited(
        utterances_of, judged.scores, outcome=outcome.value, settings=settings, worth=worth
    )
    tell(episode, of, outcome=outcome.value, about=about)


def _needs(_settings: ExperienceSettings, /) -> frozenset[Need]:
    return frozenset({"teams", "meta_model", "judge", "past"})


MATTRL = Strategy(
    name="mattrl",
    episode=mattrl,
    before_commit=keep_best,
    closing_calls=closing_calls,
    settings=ExperienceSettings,
    schema=read_schema(Path(__file__).with_name("mattrl.schema.json"), ExperienceSettings),
    check=check,
    suits=suits,
    seeds=("seed:mathematics",),
    needs=_needs,
    keeps=lambda _settings: frozenset({KIND}),
)
