"""MATTRL: agents consult each other, and what was worth most becomes their experience.

When learning, every utterance of a run is credited, and the best of all so far are kept: readable,
each with its case, agent, turn and credit. In a test the team consults with that experience, and
nothing is added. The teams of the pool stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pool.changes import Told
from ...pool.expectation import ranked
from ..appraise import appraised
from ..experience import EVENT, Credited, ExperienceSettings, check, credited, earlier, kept, told
from ..operator import operator_of
from ..proposal import Dropped
from ..settings import read_schema
from ..strategy import Strategy
from ..together import together
from ..utterances import utterances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...runtime.scorers import Score
    from ...schema.team import Team
    from ..distil import Distilled
    from ..episode import Episode
    from ..strategy import Need
    from ..utterances import Turn, Utterance

__all__ = ["MATTRL", "mattrl"]

CONSULT = "consult"


async def mattrl(episode: Episode) -> None:
    """Let a team consult about a task; when learning, keep what was worth most.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The budget is used up.
    """
    team = _team(episode)
    done = await episode.passes(team, CONSULT)
    run = episode.came(CONSULT)
    outcome = await episode.score(run, CONSULT) if episode.learning else None
    if isinstance(outcome, Dropped):
        episode.lose(outcome)
        outcome = None
    episode.answered(run, outcome)
    said = utterances(done)
    if outcome is not None and said:
        await _learn(episode, said, outcome)


def _team(episode: Episode) -> Team:
    """Take the team of the pool that is expected to do best; while it learns, it recalls nothing.

    Experience comes from runs without any (MATTRL App. B.1), or it would be experience of itself.
    """
    best, *_ = ranked(episode.view.members.values(), episode.task.niche)
    team = replace(best.team, lineage=None, successful_tasks=())
    if not episode.learning or episode.settings.recalls:
        return team
    agents = {name: replace(one, recall=None) for name, one in team.agents.items()}
    return replace(team, agents=agents)


async def _learn(episode: Episode, said: Sequence[Utterance], outcome: Score) -> None:
    """Credit what was said, distil the best of it, and keep that."""
    settings: ExperienceSettings = episode.settings
    scores = await appraised(
        episode.judge,
        f"{episode.path}{CONSULT}/",
        episode.task,
        said,
        episode.lose,
        rubric=settings.rubric,
    )
    of = credited(said, scores, outcome=outcome.value, settings=settings)
    before = earlier(episode.past)
    chosen = kept(of, settings, before)
    made = await together(*(_distilled(episode, one) for one in chosen))
    came: dict[Turn, str] = {}
    for one, distilled in zip(chosen, made, strict=True):
        if isinstance(distilled, Dropped):
            episode.lose(distilled)
            came[one.utterance.turn] = "not distilled"
        else:
            _keep(episode, one, distilled)
            came[one.utterance.turn] = "kept"
    _tell(episode, outcome, told(of, came, settings, before))


async def _distilled(episode: Episode, one: Credited) -> Distilled | Dropped:
    agent, number = one.utterance.turn
    path = f"{episode.path}{CONSULT}/round {number}/distil/{agent}"
    return await operator_of("distil").act(
        episode.meta, path, episode.task, one.utterance, score=one.score
    )


def _keep(episode: Episode, one: Credited, distilled: Distilled) -> None:
    """Have an entry made, called by its case's number, its agent and its round."""
    agent, number = one.utterance.turn
    entry = distilled.entry(
        episode.task,
        one.utterance,
        credit=one.reward or 0.0,
        by_case=episode.settings.key == "case",
        run=episode.stage.name,
    )
    episode.keep(entry, f"{agent}/{number}")


def _tell(episode: Episode, outcome: Score, of: Sequence[Mapping[str, Any]]) -> None:
    """Tell every utterance's numbers: in the episode's line, and in the pool's ledger."""
    settings: ExperienceSettings = episode.settings
    head = {"outcome": outcome.value, "credit": settings.credit}
    episode.note(EVENT, **head, utterances=[*of])
    about = {"case": episode.task.id, **head, "utterances": [*of]}
    episode.keep(Told(what=f"mattrl.{EVENT}", about=about), EVENT)
    episode.told["utterances"] = len(of)
    episode.told["entries"] = sum(one["came"] == "kept" for one in of)


def _needs(settings: ExperienceSettings, /) -> frozenset[Need]:
    del settings
    return frozenset({"teams", "meta_model", "past"})


MATTRL = Strategy(
    name="mattrl",
    episode=mattrl,
    settings=ExperienceSettings,
    schema=read_schema(Path(__file__).with_name("mattrl.schema.json")),
    check=check,
    needs=_needs,
)
