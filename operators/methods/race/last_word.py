"""The last word: the leader beside the original, on tasks that nothing was chosen by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....pool.values.intervals import paired_interval
from ....runtime.values.together import by_workers
from ....runtime.values.usage import Usage
from ...core.proposal import RejectedProposal
from ...evolution.episode import Episode
from .course import key_of
from .result import LastWord

if TYPE_CHECKING:
    from ....schema.team.task import Task
    from .race import Race

__all__ = ["last_word"]

ORIGINAL, WINNER = "original", "winner"


async def last_word(running: Race) -> LastWord | None:
    """Run the leader and the original once on held-back tasks, as many as the budget allows.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The budget is used up.
    """
    stream, leader = running.stream, running.standings.leader
    pairs = running.spending.pairs(running.pair, len(running.split.held))
    tasks = running.split.held[: max(2, pairs)]
    teams = (running.standings.candidates[0].team, leader.team)
    stream.say(f"the last word: candidate {leader.number} on {len(tasks)} held-back tasks")
    scores: dict[str, tuple[float, float]] = {}
    usages: dict[str, Usage] = {}

    async def meet(task: Task) -> None:
        episode = Episode(
            stage=stream.stage,
            number=0,
            task=task,
            view=stream.stage.view(),
            path=f"last word {key_of(leader.team)}/{task.id}/",
        )
        original = await episode.run(teams[0], ORIGINAL, parents=[])
        winner = await episode.run(teams[1], WINNER, parents=[ORIGINAL])
        verdicts = [
            await episode.verdict(run, what)
            for run, what in ((original, ORIGINAL), (winner, WINNER))
        ]
        usages[task.id] = original.usage + winner.usage - winner.saved + episode.judging
        known = [one.value for one in verdicts if not isinstance(one, RejectedProposal)]
        if len(known) == len(teams):
            scores[task.id] = (known[0], known[1])

    await by_workers(tasks, meet, stream.stage.recipe.workers)
    ids = [task.id for task in tasks if task.id in scores]
    if not ids:
        return None
    low, high = paired_interval([scores[task][1] - scores[task][0] for task in ids])
    return LastWord(
        tasks=tuple(ids),
        original=tuple(scores[task][0] for task in ids),
        winner=tuple(scores[task][1] for task in ids),
        low=low,
        high=high,
        usage=sum((usages[task.id] for task in tasks), Usage()),
    )
