"""Held-out scores: unchanged teams, or a strategy with what it learnt, on unseen tasks.

The team is the one that its pool would deploy, chosen by expectation and never by these tasks. It
is tested next to the recipe's seeds and the control. The control is the same without what was
learnt: the strategy in the pool before the first task, or the most promising team of that pool.
Each subject runs on each task `repeats` times. A trial is paid once, and the pool keeps it under
the split `test`, which selection never sees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...pool.expectation.expectation import by_standing, expected_scores, most_promising
from ...pool.ledger.changes import Evaluated
from ...pool.values.statistics import Trial
from ...runtime.record.journal import digest
from ...runtime.values.together import by_workers
from ...runtime.values.usage import Usage
from ..evolution.episode import Episode
from ..evolution.folder import task_digest
from ..evolution.strategy import strategy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...pool.ledger.members import Member
    from ...pool.view import PoolView
    from ...runtime.record.trace import Parts, Trace
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ..evolution.context import EvolutionContext
    from ..evolution.strategy import Strategy

TEST = "test"
"""The split of the trials. Evolution learns from the split `evolve`."""
HASH_DIGITS = 16
BARE = frozenset({"control", "seed"})
"""The roles of teams that are tested without what was learnt."""
WITHOUT = " without what was learnt"
"""The suffix of a control's name, if it would otherwise share the name of another subject."""
PLACE = "held out/"
"""The prefix of the journal paths of all trials."""
RUN = "candidate 0"
"""The journal's name of the only run of a trial."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frozen:
    """A team that is tested unchanged.

    Attributes:
        name: Its name in the pool; for a team that is not in the pool, its own name.
        view: The pool from which its agents recall.
        role: `deployed`, `control`, `seed` or `beside`.
        is_seed: Whether it is a seed of the recipe, whatever its role.
        is_control: Whether it is the control, whatever its role.
        expected: The pool's expectation before the test; None for a team that is not in the pool,
            and for one that is tested without what it would recall.
        keeps: Whether its agents are expected to recall what was learnt.
    """

    name: str
    team: Team
    view: PoolView
    role: str
    is_seed: bool = False
    is_control: bool = False
    expected: float | None = None
    keeps: bool = False

    @property
    def key(self) -> str:
        """The key that identifies its trials in the journal."""
        place = self.team.content_hash[:HASH_DIGITS]
        return f"{place} {self.role}" if self.name.endswith(WITHOUT) else place

    async def solve(self, episode: Episode) -> None:
        """Run the team on the task."""
        run = await episode.run(self.team, RUN)
        if score := episode.usable(await episode.verdict(run, RUN)):
            episode.answered(run, score)


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """A strategy that is tested with all that its pool has learnt, and learns nothing more.

    Attributes:
        after: The number of tasks that the pool had evolved on.
        keeps: Whether agents are expected to recall what it keeps.
        is_control: Whether it is tested without what was learnt; its view is then the pool before
            the first task.
    """

    strategy: Strategy
    view: PoolView
    after: int
    keeps: bool = False
    is_control: bool = False
    is_seed: bool = False
    expected: float | None = None

    @property
    def role(self) -> str:
        """Its role in the test."""
        return "control" if self.is_control else "learnt"

    @property
    def name(self) -> str:
        """Its name in the figures."""
        return f"{self.strategy.name}{WITHOUT}" if self.is_control else self.strategy.name

    @property
    def key(self) -> str:
        """The key that identifies its trials in the journal."""
        return f"{self.strategy.name} {'control' if self.is_control else f'after {self.after}'}"

    async def solve(self, episode: Episode) -> None:
        """Run the strategy, or its control, on the task."""
        control = self.strategy.control if self.is_control else None
        await (control or self.strategy.episode)(episode)
        await episode.finish()


Subject = Frozen | Learned
"""A subject of a test."""


@dataclass(kw_only=True, eq=False)
class HeldOut:
    """A test on tasks from which nothing is learnt.

    Attributes:
        workers: The number of concurrent runs. The scores do not depend on it.
    """

    context: EvolutionContext
    subjects: Sequence[Subject]
    tasks: Sequence[Task]
    repeats: int
    workers: int
    parts: Parts | None = None
    _trials: dict[tuple[str, str, int], dict[str, Any]] = field(
        default_factory=dict[tuple[str, str, int], "dict[str, Any]"]
    )

    async def to_the_end(self) -> list[dict[str, Any]]:
        """Make all remaining trials, record them in the pool, and return all trials."""
        await by_workers(self._keys(), self._make, self.workers)
        records = [
            self._trials[subject.name, task.id, number] for subject, task, number in self._keys()
        ]
        self._record()
        return records

    def _keys(self) -> Iterator[tuple[Subject, Task, int]]:
        """Return all trials, ordered by repeat, then task, then subject."""
        repeats = range(1, self.repeats + 1)
        return (
            (subject, task, n) for n in repeats for task in self.tasks for subject in self.subjects
        )

    async def _make(self, key: tuple[Subject, Task, int]) -> None:
        subject, task, number = key
        place = f"{PLACE}{subject.key}/{task.id}/{_which(task)}/repeat {number}/"
        episode = Episode(
            context=self.context,
            number=number,
            task=task,
            view=subject.view,
            learning=False,
            path=place,
            trace=self._trace_for(key, place),
        )
        await subject.solve(episode)
        fields = self._trials[subject.name, task.id, number] = _trial(subject, episode, number)
        if self.parts is not None:
            self.parts.finished(place, fields["score"])

    def _trace_for(self, key: tuple[Subject, Task, int], place: str) -> Trace | None:
        """Return the trace of a trial, if traces are exported."""
        if self.parts is None:
            return None
        subject, task, number = key
        return self.parts.begin(place, "trial", task=task.id, trial=number, subject=subject.name)

    def _record(self) -> None:
        """Record the trials of the pool's teams, in a fixed order."""
        stage = self.context
        for subject, task, number in self._keys():
            if subject.expected is None:
                continue  # the pool has no such team
            fields = self._trials[subject.name, task.id, number]
            trial = Trial(
                task=task.id,
                niche=task.niche or None,
                score=fields["score"],
                usage=Usage(**fields["usage"]),
                split=TEST,
                run=stage.name,
                reason=fields["reason"],
            )
            op = f"{stage.name}/{TEST}/{subject.name}/{task.id}/{_which(task)}/{number}"
            stage.pool.commit(Evaluated(member=subject.name, trial=trial), op=op)


def _trial(subject: Subject, episode: Episode, number: int) -> dict[str, Any]:
    answer, task = episode.answer, episode.task
    reason = "" if answer else episode.rejected[-1].reason if episode.rejected else "no answer."
    return {
        "team": subject.name,
        "task": task.id,
        "niche": task.niche or None,
        "repeat": number,
        "executed": answer is not None and answer.run.status == "done",
        "score": answer.score.value if answer and answer.score else None,
        "reason": reason,
        "read": sorted(episode.readers),
        "scored_by": "answer" if task.is_scored else "judge",
        "usage": (episode.run_usage + episode.operators if answer else Usage()).value(),
        "judging": episode.judging.value(),
    }


def learned(context: EvolutionContext, after: int, beside: Iterable[Team] = ()) -> list[Subject]:
    """Return a strategy with what its pool has learnt, its control, and additional teams.

    Args:
        after: The number of tasks that the pool has evolved on.
        beside: The additional teams. Of teams with the same name, only the first is tested.
    """
    strategy, view = strategy_of(context.recipe.strategy), context.view()
    keeps = bool(strategy.keeps(context.recipe.settings))
    named = {team.name: team for team in reversed([*beside])}
    return [
        Learned(strategy=strategy, view=view, after=after, keeps=keeps),
        Learned(strategy=strategy, view=context.before(), after=after, is_control=True),
        *(
            Frozen(name=name, team=team, view=view, role="beside")
            for name, team in sorted(named.items())
        ),
    ]


def frozen_teams(
    context: EvolutionContext,
    seeds: Iterable[Team],
    beside: Iterable[Team] = (),
    deployed: str = "",
) -> list[Frozen]:
    """Return the teams to test: the one to deploy, the control, the seeds, and additional teams.

    Each team occurs once, with its first role. A control or a seed recalls nothing that was learnt.
    If it otherwise would, it is another subject than the team that does.

    Args:
        deployed: The pool's name of the team to deploy; "": the most promising.
    """
    pool, before, now = context.pool, context.before(), context.view()
    expected = expected_scores(pool.teams.values())
    best = pool.member(deployed) if deployed else most_promising(pool)[0]
    wanted = [("deployed", best.team), ("control", control_of(context, before).team)]
    wanted += [("seed", seed) for seed in seeds] + [("beside", team) for team in beside]
    subjects: dict[str, Frozen] = {}
    for role, team in wanted:
        duplicate = pool.duplicate_of(team)
        name = duplicate or (
            f"{team.name} (not in the pool)" if team.name in expected else team.name
        )
        lacks = role in BARE and team.recalls
        name = f"{name}{WITHOUT}" if lacks else name
        subject = subjects.get(name)
        subjects[name] = Frozen(
            name=name,
            team=pool.member(duplicate).team if duplicate else team,
            view=before if lacks else now,
            role=subject.role if subject else role,
            is_seed=role == "seed" or (subject is not None and subject.is_seed),
            is_control=role == "control" or (subject is not None and subject.is_control),
            expected=expected[duplicate] if duplicate and not lacks else None,
        )
    return list(subjects.values())


def control_of(context: EvolutionContext, before: PoolView) -> Member:
    """Return the team with the highest current expectation among those before the first task.

    A strategy that works on all tasks together has no first task, so its own teams never count.
    """
    is_whole = strategy_of(context.recipe.strategy).whole is not None
    return next(
        member
        for member in by_standing(context.pool.teams.values())
        if member.name in before.members and not (is_whole and member.lineage.run == context.name)
    )


def _which(task: Task) -> str:
    """Return a key that differs between tasks with the same id but different answers."""
    return digest(task_digest(task))[:HASH_DIGITS]
