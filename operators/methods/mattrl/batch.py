"""When a batch of cases is complete, the best of its utterances are distilled and kept (Eq. 14).

What was said in earlier cases is read from the journal: their runs are made again, at no cost.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ....runtime.values.together import together
from ...core.operator import operator_of
from ...core.proposal import RejectedProposal
from ...core.utterances import utterances
from .select import batch_of, best, tell_batch
from .teams import team_of

if TYPE_CHECKING:
    from ....schema.team.task import Task
    from ...core.utterances import Utterance
    from ...evolution.episode import EarlierEpisodes, Episode
    from .distil import Distilled
    from .select import Candidate

__all__ = ["CONSULT", "keep_best"]

CONSULT = "consult"
"""What the run of the team is called."""


async def keep_best(episode: Episode, earlier: EarlierEpisodes) -> None:
    """When a batch of cases is complete, distil the best of its utterances and keep that.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The budget is used up.
    """
    if (batch := batch_of(episode, earlier)) is None:
        return
    chosen = sorted(best(batch, episode.settings), key=lambda one: one.number)
    cases: list[tuple[Candidate, Task, Utterance]] = []
    for number, of in itertools.groupby(chosen, lambda one: one.number):
        again = earlier.again(number)
        said = {one.turn: one for one in utterances(await again.passes(team_of(again), CONSULT))}
        cases += ((one, again.task, said[one.agent, one.round]) for one in of)
    made = await together(*(_distilled(episode, *case) for case in cases))
    for case, came in zip(cases, made, strict=True):
        _keep(episode, *case, came)
    tell_batch(episode, batch, dict(zip(chosen, made, strict=True)))


async def _distilled(
    episode: Episode, one: Candidate, task: Task, said: Utterance
) -> Distilled | RejectedProposal:
    path = f"{episode.path}{_place(one, 'distil/')}"
    return await operator_of("distil").act(episode.meta, path, task, said, score=one.score)


def _keep(
    episode: Episode,
    one: Candidate,
    task: Task,
    said: Utterance,
    came: Distilled | RejectedProposal,
) -> None:
    """Have an entry made, called by its case's number, its agent and its round."""
    if isinstance(came, RejectedProposal):
        episode.lose(came)
        return
    entry = came.entry(
        task,
        said,
        credit=one.reward or 0.0,
        outcome=one.outcome,
        by_case=episode.settings.key == "case",
        run=episode.stage.name,
    )
    episode.keep(entry, _place(one))


def _place(one: Candidate, what: str = "") -> str:
    return f"{one.number:06d}/{what}{one.agent}/{one.round}"
