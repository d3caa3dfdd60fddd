"""The worth of a run's utterances: the run is repeated with some silenced (MATTRL §5.1).

The common part of both runs is answered from the journal. An answer that has
been scored before has the same score again, so two runs differ only where their answers do.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....runtime.plan.plan import compile
from ....runtime.record.journal import digest
from ....schema.values.errors import RunError
from ...core.proposal import RejectedProposal
from ...credit.counterfactual import Counterfactuals
from ...credit.schemes import Game
from ...credit.table import Cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....runtime.agents.outcomes import Run
    from ....schema.team.team import Team
    from ...core.utterances import Turn, Utterance
    from ...evolution.episode import Episode
    from .experience import ExperienceSettings

DIGITS = 16
"""Characters of the digest that identifies an answer."""
UNSCORED = "the team's answer without an agent has no score, so no agent's contribution is known."


class _UnscoredError(RunError):
    """An answer has no score, so no agent's contribution is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Silenced:
    """The result of silencing.

    Attributes:
        worth: The worth of each utterance, or of its agent, in [-1, 1].
        about: Which agents were silenced, the number of runs, their cost and their savings.
    """

    worth: Mapping[Turn, float]
    about: Mapping[str, Any]


def place_of(label: str, run: Run) -> str:
    """Return the path of the scoring of a run's answer, so that equal answers are scored once.

    Args:
        label: The run of the episode, or a counterfactual of it.
    """
    return f"{label}/answer {digest(run.answer)[:DIGITS]}"


async def silenced(
    episode: Episode, team: Team, label: str, utterances: Sequence[Utterance]
) -> Silenced | RejectedProposal:
    """Measure the worth of utterances, or of their agents."""
    settings: ExperienceSettings = episode.settings
    turns = tuple(utterance.turn for utterance in utterances)
    by_turn = settings.per == "turn"
    players: Any = turns if by_turn else tuple(dict.fromkeys(agent for agent, _ in turns))
    game: Game[Any] = Game(
        scheme="shapley" if settings.credit == "shapley" else "difference",
        players=players,
        permutations=settings.permutations,
        seed=episode.chance("orders").getrandbits(32),
    )
    runs = _counterfactuals(episode, team, label, players)
    try:
        worths = await runs.worths(game.coalitions)
    except _UnscoredError:
        return RejectedProposal(operator="judge", reason=UNSCORED)
    credits_ = game.credits({coalition: worth.value for coalition, worth in worths.items()})
    cost = Cost.of(worths.values())
    episode.consumed(cost.paid)
    return Silenced(
        worth={turn: credits_[turn if by_turn else turn[0]].worth for turn in turns},
        about={"per": settings.per, "runs": len(worths) - 1, **cost.value()},
    )


def _counterfactuals(
    episode: Episode, team: Team, label: str, players: Any
) -> Counterfactuals[Any]:
    stage, recipe, turn = episode.context, episode.context.recipe, asyncio.Lock()

    async def score(run: Run) -> float:
        async with turn:  # of two that ask the same, one waits for the other's answer
            scored = await episode.score(run, place_of(label, run))
        if isinstance(scored, RejectedProposal):
            raise _UnscoredError(UNSCORED)
        return scored.value

    return Counterfactuals(
        services=episode.services,
        plan=compile(team, stage.catalogue),
        task=episode.task,
        base=stage.journal,
        own=stage.journal,
        players=players,
        score=score,
        judged=[episode.scored_by, recipe.rubric, recipe.judge_samples, episode.judge.model],
        path=f"{episode.path}{label}/",
        scrubber=stage.scrubber,
        budget=stage.budget,
    )
