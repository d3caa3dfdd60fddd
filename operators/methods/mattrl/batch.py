"""When a batch of cases is complete, the best of its utterances are distilled and stored (Eq. 14).

Utterances of earlier cases are read from the journal: their runs are repeated, at no cost.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ....runtime.values.together import together
from ....schema.values.errors import LimitError
from ...core.operator import operator_of
from ...core.proposal import RejectedProposal
from ...core.utterances import utterances
from .distil import OPERATOR
from .select import batch_of, best, tell_batch
from .teams import team_of

if TYPE_CHECKING:
    from ....schema.team.task import Task
    from ...core.utterances import Utterance
    from ...evolution.episode import EarlierEpisodes, Episode
    from .distil import Distilled
    from .select import ExperienceCandidate

CONSULT = "consult"
"""The name of the team's run."""


async def keep_best(episode: Episode, earlier: EarlierEpisodes) -> None:
    """When a batch of cases is complete, distil the best of its utterances and store the results.

    The last batch is complete with the last case of the stream, or of the budget.
    """
    if (batch := batch_of(episode, earlier)) is None:
        return
    chosen = sorted(best(batch, episode.settings), key=_number)
    cases: list[tuple[ExperienceCandidate, Task, Utterance]] = []
    for number, of in itertools.groupby(chosen, _number):
        again = earlier.again(number)
        passes = await again.passes(team_of(again), CONSULT)
        by_turn = {utterance.turn: utterance for utterance in utterances(passes)}
        cases += ((each, again.task, by_turn[each.agent, each.round]) for each in of)
    results = await together(
        *(_distilled(episode, *case, is_final=earlier.is_final) for case in cases)
    )
    for case, result in zip(cases, results, strict=True):
        _keep(episode, *case, result)
    tell_batch(episode, batch, dict(zip(chosen, results, strict=True)))


async def _distilled(
    episode: Episode,
    candidate: ExperienceCandidate,
    task: Task,
    utterance: Utterance,
    *,
    is_final: bool,
) -> Distilled | RejectedProposal:
    path = f"{episode.path}{_place(candidate, 'distil/')}"
    try:
        return await operator_of("distil").act(
            episode.meta_model, path, task, utterance, score=candidate.score
        )
    except LimitError as error:
        if not is_final:
            raise
        return RejectedProposal(operator=OPERATOR, reason=str(error))


def _keep(
    episode: Episode,
    candidate: ExperienceCandidate,
    task: Task,
    utterance: Utterance,
    result: Distilled | RejectedProposal,
) -> None:
    """Store an entry, named after its case's number, its agent and its round."""
    if (distilled := episode.usable(result)) is None:
        return
    entry = distilled.entry(
        task,
        utterance,
        credit=candidate.reward or 0.0,
        outcome=candidate.outcome,
        by_case=episode.settings.key == "case",
        run=episode.context.name,
    )
    episode.keep(entry, _place(candidate))


def _place(candidate: ExperienceCandidate, label: str = "") -> str:
    return f"{candidate.number:06d}/{label}{candidate.agent}/{candidate.round}"


def _number(candidate: ExperienceCandidate) -> int:
    return candidate.number
