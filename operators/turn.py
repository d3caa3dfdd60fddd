"""One task's turn in an evolution: what a strategy has to work with, and what it did."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..pool.identity import are_twins
from ..pool.members import Member
from ..runtime.calls import seed_of
from ..runtime.journal import digest
from ..runtime.plan import compile
from ..runtime.scorers import Score
from ..runtime.usage import Usage
from ..schema.errors import InputError, LimitError, RunError
from ..schema.team import Lineage, Team
from .candidates import Candidate, cost_of, run_of, run_value
from .consolidate import Step
from .digest import digest as trace_digest
from .judge import Verdict, judge
from .meta import Meta
from .proposal import Dropped, Parent, Proposal
from .select import select

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from ..pool.experience import Experience
    from ..runtime.engine import Run
    from ..schema.task import Task
    from .stage import Stage

__all__ = ["Attempt", "Halted", "Turn", "require_answers", "together"]


class Halted(RunError):
    """A provider or a jail failed, which says nothing about any team; the evolution has to wait."""


Origin = Member | Candidate
"""What a child is made from: a team of the pool, or one that was tried in this turn."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something to try.

    Attributes:
        number: The how-many-th of its turn it is, from 0.
        made: A team as it stands in the pool, or what an operator came to.
        parents: What it was made from.
    """

    number: int
    made: Team | Proposal | Dropped
    parents: Sequence[Origin]

    @property
    def team(self) -> Team:
        """The team to run."""
        if isinstance(self.made, Dropped):
            raise TypeError("what was dropped has no team.")
        return self.made.child if isinstance(self.made, Proposal) else self.made

    @property
    def operator(self) -> str:
        """What made it."""
        return "select" if isinstance(self.made, Team) else self.made.operator


@dataclass(kw_only=True, eq=False)
class Turn:
    """The turn of one task.

    Attributes:
        stage: What the evolution has of this host.
        number: Which turn it is, from 0: the task's place in the stream.
        task: The task.
        members: The teams of the pool, as this task sees it.
        experiences: What was learnt on similar tasks, with the similarity.
        candidates: What was tried, in order.
        spent: What operators consumed.
        judging: What judging consumed.
        learnt: What is to be remembered of it, if anything.
    """

    stage: Stage
    number: int
    task: Task
    members: Mapping[str, Member]
    experiences: Sequence[tuple[Experience, float]] = ()
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    _lost: list[tuple[int, Dropped]] = field(default_factory=list[tuple[int, Dropped]])
    spent: Usage = field(default_factory=Usage)
    judging: Usage = field(default_factory=Usage)
    learnt: Experience | None = None

    def __post_init__(self) -> None:
        stage = self.stage
        self.meta = Meta(
            calls=stage.services.calls(journal=stage.journal, scrubber=stage.scrubber),
            catalogue=stage.catalogue,
            ceiling=stage.ceiling,
            model=stage.recipe.meta_model,
            budget=stage.budget,
            tell=self._tell,
        )

    @property
    def path(self) -> str:
        """Where the turn stands in the journal."""
        return f"task {self.number:06d}/"

    def chance(self, what: str) -> random.Random:
        """Give the chance of one decision: it depends on the recipe's seed and on nothing later."""
        return random.Random(seed_of(self.stage.recipe.seed, f"{self.path}{what}"))  # noqa: S311

    @property
    def best(self) -> Candidate:
        """The candidate with the highest reward; among equals the cheaper, then the earlier."""
        return max(
            self.candidates, key=lambda one: (one.reward, -one.run.usage.tokens, -one.number)
        )

    async def tried(self, *attempts: Attempt, again: bool = False) -> None:
        """Run teams on the task, side by side, and score them.

        A child that equals one that was tried in this turn is not run again. What did not come
        about, or gets no score, is counted.

        Args:
            attempts: What to try. No two of a turn have the same number.
            again: Also run a team that was tried already.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The evolution's budget is used up.
        """
        teams = [one.team for one in self.candidates]
        runs: list[Coroutine[Any, Any, None]] = []
        # Who is the twin of whom is settled here, by number, and not by who is done first.
        for one in attempts:
            if isinstance(one.made, Dropped):
                self.lose(one.number, one.made)
            elif not again and any(are_twins(one.team, other) for other in teams):
                why = "it equals a team that was tried on this task already."
                self.lose(one.number, Dropped(operator=one.operator, reason=why))
            else:
                teams.append(one.team)
                runs.append(self._try(one))
        await together(*runs)
        self.candidates.sort(key=lambda one: one.number)

    def lose(self, number: int, dropped: Dropped) -> None:
        """Count a child that did not come about."""
        self._lost.append((number, dropped))

    @property
    def dropped(self) -> list[Dropped]:
        """Children that did not come about, in the order of their numbers."""
        return [one for _, one in sorted(self._lost, key=lambda lost: lost[0])]

    async def _try(self, attempt: Attempt) -> None:
        run = await self._run(attempt.team, attempt.number)
        scored = await self._scored(run, attempt.number)
        if isinstance(scored, Dropped):
            self.lose(attempt.number, scored)
            return
        made, recipe = attempt.made, self.stage.recipe
        is_child = isinstance(made, Proposal)
        self.candidates.append(
            Candidate(
                number=attempt.number,
                team=attempt.team,
                born=self._lineage(made, attempt.parents),
                component=made.component if is_child else None,
                member=None if is_child else _names(attempt.parents)[0],
                run=run,
                score=scored.value,
                reason=scored.reason,
                reward=scored.value - recipe.beta * cost_of(run, recipe),
            )
        )

    @property
    def memories(self) -> tuple[Experience, ...]:
        """What was learnt on similar tasks, the most similar first."""
        return tuple(entry for entry, _ in self.experiences)

    def parent(self, origin: Origin) -> Parent:
        """Give a team as operators are given it: with what its run on this task came to."""
        if isinstance(origin, Member):
            return Parent(team=origin.team)
        verdict = Score(value=origin.score, reason=origin.reason)
        told = trace_digest(origin.run, verdict=verdict, tokens=self.meta.limits.digest_tokens)
        return Parent(team=origin.team, digest=told, reward=origin.reward)

    async def selected(self, meta: Meta | None, k: int) -> list[Member]:
        """Choose teams of the pool for the task; without a model, by what is known of them.

        Where a model's choice is of no use, that is counted, and statistics choose.
        """
        members = list(self.members.values())
        path = f"{self.path}select"
        chosen = await select(meta, path, self.task, members, k=k, hits=self.experiences)
        if isinstance(chosen, Dropped):
            self.lose(-1, chosen)
            return await self.selected(None, k)
        return [self.members[name] for name in chosen.names]

    def steps(self) -> list[Step]:
        """Give the turn as operators are told of it."""
        return [
            Step(
                number=one.number,
                operator=one.born.operator,
                team=one.team.name,
                content_hash=one.team.content_hash,
                reward=one.reward,
                parents=one.born.parents,
                component=one.component,
                reason=one.born.reason,
            )
            for one in self.candidates
        ]

    def promising(self, what: str) -> list[Candidate]:
        """Give the candidates, the highest reward first; equals in an order of their own chance."""
        order = self.chance(what).sample(self.candidates, len(self.candidates))
        return sorted(order, key=lambda one: -one.reward)

    async def _scored(self, run: Run, number: int) -> Score | Dropped:
        """Score a run as the recipe says; a team that came to no answer has none that is right."""
        recipe = self.stage.recipe
        if run.answer is None:
            return Score(value=0.0, reason=run.error or "it came to no answer.")
        if recipe.score == "judge":
            path = f"{self.path}candidate {number}/judge"
            judging = replace(self.meta, tell=self._tell_judging)
            verdict = await judge(
                judging,
                path,
                self.task,
                run.answer,
                rubric=recipe.rubric,
                samples=recipe.judge_samples,
            )
            return verdict.score if isinstance(verdict, Verdict) else verdict
        if run.score is None:
            raise InputError(f"task {self.task.id!r} has no answer to score against.")
        return run.score

    def _lineage(self, made: Team | Proposal | Dropped, parents: Sequence[Origin]) -> Lineage:
        """Write down where a team comes from: teams of the pool, and every step from there."""
        if not isinstance(made, Proposal):
            return Lineage(operator="select", parents=_names(parents), task=self.task.id)
        earlier = [
            one.born.reason for one in parents if isinstance(one, Candidate) and one.born.reason
        ]
        step = f"{made.operator}: {made.reason}" if made.reason else made.operator
        return Lineage(
            operator=made.operator,
            parents=_names(parents),
            reason="; ".join([*earlier[:1], step]),
            task=self.task.id,
            run=self.stage.name,
        )

    def _tell_judging(self, event: str, /, **fields: Any) -> None:
        """Count what judging consumes."""
        if event == "model_call":
            self.judging += Usage(**fields["usage"])

    def _tell(self, event: str, /, **fields: Any) -> None:
        """Count what operators consume."""
        if event == "model_call":
            self.spent += Usage(**fields["usage"])

    async def _run(self, team: Team, number: int) -> Run:
        """Run a team once; what came of it is journaled whole, so that a restart only reads it."""
        path = f"{self.path}candidate {number}/"
        plan = compile(team, self.stage.catalogue)

        async def work() -> Mapping[str, Any]:
            await self.stage.services.prepare(plan)
            run = await self.stage.services.execute(
                plan,
                self.task,
                journal=self.stage.journal,
                scrubber=self.stage.scrubber,
                budget=self.stage.budget,
                path=path,
            )
            if run.over_budget:
                raise LimitError(str(run.error))
            if run.is_infrastructure_failure:
                raise Halted(f"task {self.task.id}: {run.error}")
            return run_value(run)

        asked = digest(plan.content_hash, self.task.id, self.task.query, self.task.context)
        return run_of(await self.stage.journal.once(f"{path}outcome", "run", asked, work))


async def together(*parts: Coroutine[Any, Any, None]) -> None:
    """Do parts side by side, all to their end: one that fails must not cost what others paid for.

    Raises:
        BaseException: What the first of them raised.
    """
    for came in await asyncio.gather(*parts, return_exceptions=True):
        if came is not None:
            raise came


def require_answers(tasks: Sequence[Task]) -> None:
    """Make sure that every task can be scored by its reference answer.

    Raises:
        InputError: One has none.
    """
    for task in tasks:
        if task.answer is None:
            raise InputError(
                f"task {task.id!r} has no answer to score against. Add one, or write score: judge"
                " in the recipe."
            )


def _names(parents: Sequence[Origin]) -> tuple[str, ...]:
    """Name the teams of the pool that parents go back to, each once."""
    names: dict[str, None] = {}
    for one in parents:
        found = one.born.parents if isinstance(one, Candidate) else (one.name,)
        names |= dict.fromkeys(found)
    return tuple(names)
