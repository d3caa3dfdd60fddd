"""The last word: the leader beside the original, on tasks held back until then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from ....pool.values.adjusted import adjusted_interval
from ....runtime.values.together import by_workers
from ....runtime.values.usage import total
from ....schema.values.errors import LimitError
from ...evolution.episode import Episode, Halted
from .course import key_of
from .result import USUAL, LastWord
from .spending import ROUNDS
from .split import FEWEST_HELD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.values.usage import Usage
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from .race import Race

ORIGINAL, WINNER = "original", "winner"
EARLY, LAST = 0.97, USUAL
"""The levels of the intervals after the first round and at the end. Whatever the gain is, at least
95 % of the intervals with which a last word ends cover it."""


async def last_word(running: Race) -> LastWord | None:
    """Run the leader and the original on held-back tasks, in as many pairs as the budget allows.

    A second round repeats tasks: a task's score is then the mean. There is none if the first one
    shows a gain, or if the leader did no better than the original in it. The original's pilot,
    which chose nothing, makes the interval shorter if tasks were split at random. If a budget ends
    the last word early, the finished pairs count.

    Raises:
        Halted: A provider or a jail failed, or the judge gives no score.
        LimitError: The budget is used up.
    """
    stream, leader, held = running.stream, running.standings.finalist, running.split.held
    most = max(FEWEST_HELD, running.pairs(leader))
    keys = [(task, n) for n in range(ROUNDS) for task in held][:most]
    episodes = [_episode(running, key_of(leader), *key) for key in keys]
    stream.say(f"the last word: candidate {leader.number}, at most {len(keys)} pairs of runs")
    outcomes: dict[str, Meeting] = {}
    pilot = [] if stream.held_out else [each.score.value for each in running.proposing.pilot]

    async def meet(episode: Episode) -> None:
        outcome = await _meeting(running, leader.team, episode)
        if outcome is not None:
            outcomes[episode.path] = outcome

    word, is_whole = None, len(keys) == running.most_pairs(leader)
    rounds = [*filter(None, (episodes[: len(held)], episodes[len(held) :]))]
    for number, part in enumerate(rounds, start=1):
        is_last = number == len(rounds)
        try:
            await by_workers(part, meet, stream.context.recipe.workers)
        except LimitError:
            if word is None and len(outcomes) < FEWEST_HELD:
                raise
            is_last, is_whole = True, False
        results = [outcomes[each.path] for each in episodes if each.path in outcomes]
        if not results:
            reason = next(lost.reason for each in episodes for lost in each.rejected)
            raise Halted(f"the last word has no score: {reason}")
        usage = total(paid for each in episodes for paid in (*each.paid, each.judging))
        word = _word(results, pilot, LAST if is_last else EARLY, usage)
        if is_last or word.low > 0 or word.gain <= 0:
            break
    return word and replace(word, is_whole=is_whole)


def _episode(running: Race, key: str, task: Task, number: int) -> Episode:
    """Return the episode of a pair of runs: a held-back task, and the number of its repeat."""
    again = f"{number}/" if number else ""
    return Episode(
        context=running.stream.context,
        number=0,
        task=task,
        view=running.view,
        path=f"last word {key}/{task.id}/{again}",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Meeting:
    """The scores of the original and of the leader on a task.

    If only some tasks have a reference answer, the judge's scores are kept beside those by it.
    """

    task: str
    original: float
    winner: float
    judged: tuple[float, float] | None = None


async def _meeting(running: Race, leader: Team, episode: Episode) -> Meeting | None:
    """Run both teams once on a task; None if either has no score.

    If reference answers correct the judge, it scores these tasks, too.
    """
    task, original = episode.task, running.standings.candidates[0].team
    first = await episode.run(original, ORIGINAL, parents=[])
    second = await episode.run(leader, WINNER, parents=[ORIGINAL])
    old = episode.usable(await episode.verdict(first, ORIGINAL))
    new = episode.usable(await episode.verdict(second, WINNER))
    if old is None or new is None:
        return None
    judged: list[float] = []
    is_corrected = running.split.is_corrected and task.is_scored
    for run, what in ((first, ORIGINAL), (second, WINNER)) if is_corrected else ():
        score = episode.usable(await episode.judged(run, what))
        if score is None:
            return None
        judged.append(score.value)
    return Meeting(
        task=task.id,
        original=old.value,
        winner=new.value,
        judged=(judged[0], judged[1]) if judged else None,
    )


def _word(
    meetings: Sequence[Meeting], pilot: Sequence[float], level: float, usage: Usage
) -> LastWord:
    """Summarise the pairs: tasks are the sample, and a task's score is the mean of its runs."""
    by_task: dict[str, list[Meeting]] = {}
    for meeting in meetings:
        by_task.setdefault(meeting.task, []).append(meeting)
    scores = [
        (fmean(each.original for each in own), fmean(each.winner for each in own))
        for own in by_task.values()
    ]
    judged = [_means([each.judged for each in own if each.judged]) for own in by_task.values()]
    gains = [new - old for old, new in scores]
    if any(judged):  # by the judge on all tasks, corrected where there is a reference answer
        places = [place for place, each in enumerate(judged) if each]
        scores = [each or score for each, score in zip(judged, scores, strict=True)]
        beside = [new - old for old, new in scores]
        more = [gain for place, gain in enumerate(beside) if place not in places]
        gains, beside = [gains[place] for place in places], [beside[place] for place in places]
    else:
        places, beside, more = [], [old for old, _ in scores], pilot
    estimate, (low, high) = adjusted_interval(gains, beside, more, level=level)
    return LastWord(
        tasks=tuple(by_task),
        original=tuple(old for old, _ in scores),
        winner=tuple(new for _, new in scores),
        corrected=estimate if places else None,
        answers=len(places),
        low=low,
        high=high,
        level=level,
        usage=usage,
    )


def _means(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the mean of each side; None without pairs."""
    return (fmean(old for old, _ in pairs), fmean(new for _, new in pairs)) if pairs else None
