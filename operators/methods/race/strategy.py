"""Race: replay-assisted evolution of one team over many tasks, and a last word on others.

The main flow: split the tasks, propose, race, and measure the winner once beside the original on
tasks that nothing was chosen by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....pool.ledger.changes import Added, Evaluated
from ....pool.values.intervals import paired_interval
from ....pool.values.statistics import Trial
from ....runtime.values.together import by_workers
from ....runtime.values.usage import Usage
from ....schema.team.team import Lineage
from ...core.proposal import RejectedProposal
from ...evolution.episode import Episode
from ...evolution.strategy import Strategy
from .ceiling import allowed_by_default
from .course import key_of
from .race import Race
from .result import Entrant, LastWord, RaceResult
from .settings import SCHEMA, RaceSettings, check, needs

if TYPE_CHECKING:
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from ...evolution.stream import TaskStream

__all__ = ["RACE", "race"]

ORIGINAL, WINNER = "original", "winner"


async def race(stream: TaskStream) -> RaceResult:
    """Find a better team, or show that none was found.

    Raises:
        Halted: A provider or a jail failed. What was paid for is kept.
        InputError: There are too few tasks, or more than one team to begin with.
        LimitError: The budget is used up. What was paid for is kept.
        StorageError: Something cannot be written.
    """
    running = Race(stream=stream)
    original = _original(stream)
    await running.begin(original)
    stream.say(_estimate(running))
    while await running.step():
        _result(running).write(stream.folder)
    word = None if running.standings.leader.parent is None else await _last_word(running)
    members = _kept(running)
    result = _result(running, word, members)
    result.write(stream.folder)
    return result


def _original(stream: TaskStream) -> Team:
    """Return the team that the race begins with: the pool's only team that nobody evolved."""
    seeds = [one.team for one in stream.stage.pool.teams.values() if not one.born.parents]
    return seeds[0]


def _estimate(running: Race) -> str:
    """Say what a run costs, as the pilot showed, and what the budget pays for."""
    trials = running.proposing.pilot
    usage = sum((trial.run.usage for trial in trials), Usage())
    seconds = sum(trial.run.seconds for trial in trials) / len(trials)
    n, stage = len(trials), running.stream.stage
    each = f"{usage.calls / n:.1f} calls, {usage.tokens / n:.0f} tokens, ${usage.usd / n:.5f}"
    share = running.spending.share(usage) / n
    runs = min(running.settings.runs, int(1 / share) if share else running.settings.runs)
    runs += 0 if share else 2 * len(running.split.held)
    minutes = runs * seconds / stage.recipe.workers / 60
    score = sum(trial.score.value for trial in trials) / n
    split = running.split
    return (
        f"pilot: {score:.2f} on {n} tasks; a run takes {each}, {seconds:.1f} s. About {runs} runs,"
        f" {minutes:.0f} min. Tasks: {len(split.propose)} to propose on, {len(split.race)} to race"
        f" on, {len(split.held)} held back"
    )


async def _last_word(running: Race) -> LastWord | None:
    """Run the leader and the original once on tasks that nothing was chosen by."""
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


def _kept(running: Race) -> list[str]:
    """Keep the candidates in the pool, with their scores; return what the pool calls each."""
    stage, names = running.stream.stage, list[str]()
    for candidate in running.standings.candidates:
        op = f"{stage.name}/candidate {candidate.number:03d}"
        if candidate.parent is None:
            names.append(stage.pool.twin_of(candidate.team) or candidate.team.name)
        else:
            lineage = Lineage(
                operator=f"race_{candidate.kind}",
                parents=(names[candidate.parent],),
                edits=candidate.edits,
                reason=candidate.reason,
                run=stage.name,
            )
            added = Added(member=candidate.team, lineage=lineage)
            names.append(stage.pool.commit(added, op=op).name)
        for slot, score in enumerate(candidate.scores):
            task = running.split.race[slot % len(running.split.race)]
            trial = Trial(task=task.id, niche=task.niche or None, score=score, run=stage.name)
            stage.pool.commit(Evaluated(member=names[-1], trial=trial), op=f"{op}/slot {slot:04d}")
    return names


def _result(
    running: Race, word: LastWord | None = None, members: list[str] | None = None
) -> RaceResult:
    """Return what the race came to until now."""
    standings = running.standings
    entrants = tuple(
        Entrant(
            number=candidate.number,
            parent=candidate.parent,
            kind=candidate.kind,
            reason=candidate.reason,
            edits=candidate.edits,
            scores=tuple(candidate.scores),
            mean=standings.belief(candidate).mean,
            spread=standings.belief(candidate).spread,
            gain=running.gains[candidate.number].interval if candidate.number else None,
            state=candidate.state,
            usage=candidate.usage,
            member=members[candidate.number] if members else "",
        )
        for candidate in standings.candidates
    )
    return RaceResult(
        entrants=entrants,
        tasks=tuple(task.id for task in running.split.race),
        leader=standings.leader.number,
        slots=tuple(running.order),
        last_word=word,
        ended=running.ended,
        spent=running.spent + (word.usage if word else Usage()),
        operators=running.proposing.author.operators,
        dropped=len(running.proposing.dropped),
    )


RACE = Strategy(
    name="race",
    whole=race,
    settings=RaceSettings,
    schema=SCHEMA,
    check=check,
    needs=needs,
    ceiling=allowed_by_default,
    status=RaceResult.read,
    leaves_team=True,
    reuses=True,
)
