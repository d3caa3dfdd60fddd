"""The last word: the leader beside the original, on tasks held back until then."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ....pool.values.adjusted import adjusted_interval
from ....runtime.values.together import by_workers
from ....runtime.values.usage import Usage
from ....schema.values.errors import LimitError
from ...core.proposal import RejectedProposal
from ...evolution.episode import Episode
from .course import DIGITS
from .result import LastWord
from .spending import ROUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from .race import Race

ORIGINAL, WINNER = "original", "winner"
FEWEST = 4
"""The fewest pairs of runs that make a last word."""
EARLY, LAST = 0.97, 0.95
"""The levels of the intervals after the first round and at the end. Whatever the gain is, at least
95 % of the intervals with which a last word ends cover it."""
Key = tuple["Task", int]
"""A held-back task, and the number of its repeat."""


async def last_word(running: Race) -> LastWord | None:
    """Run the leader and the original on held-back tasks, in as many pairs as the budget allows.

    A second round repeats tasks: a task's score is then the mean. There is none if the first one
    shows a gain, or if the leader did no better than the original in it. The original's pilot,
    which chose nothing, makes the interval shorter if tasks were split at random. If a budget of
    tokens or USD ends the last word early, the finished pairs count.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The budget is used up.
    """
    stream, leader, held = running.stream, running.standings.finalist, running.split.held
    pairs = max(FEWEST, running.pairs(leader))
    meetings = [(task, n) for n in range(ROUNDS) for task in held][:pairs]
    stream.say(f"the last word: candidate {leader.number}, at most {len(meetings)} held-back runs")
    outcomes: dict[tuple[str, int], Meeting] = {}
    references = sum(task.is_scored for task in held)
    corrects = references >= FEWEST and len(held) - references >= FEWEST
    pilot = [] if stream.held_out else [each.score.value for each in running.proposing.pilot]

    async def meet(key: tuple[Task, int]) -> None:
        outcome = await _meeting(running, leader.team, *key, corrects=corrects)
        if outcome is not None:
            outcomes[key[0].id, key[1]] = outcome

    word = None
    for part, level in _looks(meetings, len(held)):
        try:
            await by_workers(part, meet, stream.context.recipe.workers)
        except LimitError:
            if len(outcomes) < FEWEST:
                raise
        results = [outcomes[task.id, n] for task, n in meetings if (task.id, n) in outcomes]
        word = _word(results, pilot, level) if results else None
        if word is not None and (word.low > 0 or word.gain <= 0):
            break
    return word


def _looks(meetings: Sequence[Key], first: int) -> Sequence[tuple[Sequence[Key], float]]:
    """Return the pairs to run before each look at the result, and the level of its interval."""
    rounds = [(meetings[:first], EARLY)] if len(meetings) > first else []
    return [*rounds, (meetings[len(rounds) * first :], LAST)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Meeting:
    """The scores of the original and of the leader on a task, and the usage of both runs.

    If only some tasks have a reference answer, the judge's scores are kept beside those by it.
    """

    task: str
    original: float
    winner: float
    usage: Usage
    judged: tuple[float, float] | None = None


async def _meeting(
    running: Race, leader: Team, task: Task, number: int, *, corrects: bool
) -> Meeting | None:
    """Run both teams once on a task; None if either has no score.

    If reference answers correct the judge, it scores these tasks, too.
    """
    again = f"{number}/" if number else ""
    episode = Episode(
        context=running.stream.context,
        number=0,
        task=task,
        view=running.view,
        path=f"last word {leader.content_hash[:DIGITS]}/{task.id}/{again}",
    )
    original = running.standings.candidates[0].team
    first = await episode.run(original, ORIGINAL, parents=[])
    second = await episode.run(leader, WINNER, parents=[ORIGINAL])
    old, new = await episode.verdict(first, ORIGINAL), await episode.verdict(second, WINNER)
    if isinstance(old, RejectedProposal) or isinstance(new, RejectedProposal):
        return None
    judged: list[float] = []
    for run, what in ((first, ORIGINAL), (second, WINNER)) if corrects and task.is_scored else ():
        score = await episode.judged(run, what)
        if isinstance(score, RejectedProposal):
            return None
        judged.append(score.value)
    usage = first.usage + second.usage - second.saved + episode.judging
    return Meeting(
        task=task.id,
        original=old.value,
        winner=new.value,
        usage=usage,
        judged=(judged[0], judged[1]) if judged else None,
    )


def _word(meetings: Sequence[Meeting], pilot: Sequence[float], level: float) -> LastWord:
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
        usage=sum((meeting.usage for meeting in meetings), Usage()),
    )


def _means(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the mean of each side; None without pairs."""
    return (fmean(old for old, _ in pairs), fmean(new for _, new in pairs)) if pairs else None
