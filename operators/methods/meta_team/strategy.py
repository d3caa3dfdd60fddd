"""Meta-Team: a team that evolves as a team (Algorithm 1).

One team works on every task. Then it looks back: each agent in its own conversation, pairs of
agents that worked together, and the team as a whole. The edits that pass the gate make the next
team, and the previous one retires. No test checks whether the next team is better.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ....pool.ledger.changes import Evaluated
from ....runtime.values.caps import Caps
from ...evolution.strategy import Strategy, read_schema
from .head import begin, ceiling_for, constrained, head_of, suits
from .schemes import looked_back, room_of
from .settings import RetrospectiveSettings, check, foretells
from .succession import Again, Succession

if TYPE_CHECKING:
    from ....pool.ledger.members import Member
    from ....runtime.agents.outcomes import Run, Score
    from ....schema.team.team import Team
    from ...evolution.episode import Episode
    from ...evolution.strategy import Need

WORK, AGAIN = "work", "retry"
DIALOGUE = 60_000
"""The most characters of each agent's dialogue."""


async def meta_team(episode: Episode) -> None:
    """Run the pool's head on a task and, when learning, let it look back and change."""
    head = head_of(episode.view.members)
    team = replace(head.team, lineage=None, successful_tasks=())
    if not episode.learning:
        episode.answered(await episode.run(team, WORK))
        return
    run = await _worked(episode, team, WORK)
    if outcome := await episode.answer_scored(run, WORK):
        reward = episode.reward(run, outcome)
        name, rounds = episode.context.name, run.rounds
        trial = episode.trial(run, outcome.value, reward=reward, run=name, rounds=rounds)
        episode.keep(Evaluated(member=head.name, trial=trial), "trial")
        await _learn(episode, head, team, run, outcome)


async def _worked(episode: Episode, team: Team, label: str) -> Run:
    settings: RetrospectiveSettings = episode.settings
    share, usd = settings.budget_share, settings.usd
    caps = None if usd is None else Caps(usd=share * usd)
    within = constrained(team, share)
    return await episode.run(within, label, base=team, dialogue=DIALOGUE, caps=caps)


async def _learn(episode: Episode, head: Member, team: Team, run: Run, outcome: Score) -> None:
    """Look back, and let the resulting team succeed the head."""
    settings: RetrospectiveSettings = episode.settings
    ceiling = ceiling_for(team, episode.context)
    meta = replace(episode.meta_model, ceiling=ceiling)
    looked, levels = await looked_back(episode, meta, team, run, outcome)
    again = None
    if looked.retry and settings.retry and looked.child != team:
        again = await _again(episode, looked.child, outcome)
    episode.closing = Succession(
        episode=episode,
        head=head,
        levels=levels,
        ceiling=ceiling,
        room=room_of(settings),
        again=again,
    )


async def _again(episode: Episode, child: Team, before: Score) -> Again:
    """Retry the task with the changed team, without another retrospective (lines 12 to 14)."""
    run = await _worked(episode, child, AGAIN)
    outcome = episode.usable(await episode.score(run, AGAIN))
    if outcome is None:
        return Again(run=run, score=None)
    episode.figures["gain of a retry"] = outcome.value - before.value
    return Again(run=run, score=outcome.value)


def _needs(settings: RetrospectiveSettings, /) -> frozenset[Need]:
    return frozenset({"teams", "meta_model"} if settings.looks_back else {"teams"})


META_TEAM = Strategy(
    name="meta_team",
    episode=meta_team,
    begin=begin,
    settings=RetrospectiveSettings,
    schema=read_schema(Path(__file__).with_name("meta_team.schema.json"), RetrospectiveSettings),
    check=check,
    suits=suits,
    foretells=foretells,
    seeds=("seed:workshop",),
    needs=_needs,
    leaves_team=True,
    scaffold=True,
)
