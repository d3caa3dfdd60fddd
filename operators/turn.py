"""One task's turn in an evolution: what a strategy has to work with, and what it did."""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..pool.expectation import expected_scores
from ..pool.identity import are_twins, identity_of
from ..pool.lineage import steps_to
from ..pool.members import Member
from ..runtime.calls import seed_of
from ..runtime.usage import Usage
from ..schema.team import Lineage, LineageStep, Team
from .candidates import Candidate, cost_of
from .chance import Chance
from .consolidate import Step
from .digest import digest
from .meta import Meta
from .proposal import Dropped, Parent, Proposal, edit_words
from .select import select
from .trying import Trying, together

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from typing import Literal

    from ..pool.learnt import Learnt
    from ..schema.edits import Component
    from ..schema.task import Task
    from .meta import Respondent
    from .stage import Stage

__all__ = ["Attempt", "Turn"]

Origin = Member | Candidate
"""What a child is made from: a team of the pool, or one that was tried in this turn."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something to try.

    Attributes:
        number: The how-many-th of its turn it is, from 0.
        made: A team as it stands in the pool, or what an operator came to.
        parents: What it was made from; the first is what a proposal's edits are edits of.
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

    @property
    def sources(self) -> tuple[int, ...]:
        """The numbers of the candidates that it was made of."""
        return tuple(one.number for one in self.parents if isinstance(one, Candidate))


@dataclass(kw_only=True, eq=False)
class Turn:
    """The turn of one task.

    Attributes:
        stage: What the evolution has of this host.
        number: Which turn it is, from 0: the task's place in the stream.
        task: The task.
        members: The teams of the pool, as this task sees it.
        experiences: What was learnt on similar tasks, with the similarity.
        gains: What mutations gained over their parents on the tasks that this one sees, by the
            component that they touched, in order.
        candidates: What was tried, in order.
        spent: What operators consumed.
        judging: What judging consumed.
        learnt: What is to be remembered of it, if anything.

    Its `meta` is the model that decides, and its `author` is who writes edits: the same, or chance.
    """

    stage: Stage
    number: int
    task: Task
    members: Mapping[str, Member]
    experiences: Sequence[tuple[Learnt, float]] = ()
    gains: Sequence[tuple[Component, float]] = ()
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    _lost: list[tuple[int, Dropped]] = field(default_factory=list[tuple[int, Dropped]])
    spent: Usage = field(default_factory=Usage)
    judging: Usage = field(default_factory=Usage)
    learnt: Learnt | None = None

    def __post_init__(self) -> None:
        stage, recipe = self.stage, self.stage.recipe
        self.meta = Meta(
            calls=stage.services.calls(journal=stage.journal, scrubber=stage.scrubber),
            catalogue=stage.catalogue,
            ceiling=stage.ceiling,
            model=recipe.meta_model,
            budget=stage.budget,
            tell=self._tell,
        )
        drawn = Chance(
            catalogue=stage.catalogue, ceiling=stage.ceiling, seed=recipe.seed, tell=self._tell
        )
        self.author: Respondent = self.meta if recipe.operators == "model" else drawn
        judge = self.meta.asking(recipe.judge_model or recipe.meta_model)
        judging = replace(judge, tell=self._tell_judging)
        self._trying = Trying(stage=stage, task=self.task, path=self.path, judging=judging)

    @property
    def path(self) -> str:
        """Where the turn stands in the journal."""
        return f"task {self.number:06d}/"

    def chance(self, what: str) -> random.Random:
        """Give the chance of one decision: it depends on the recipe's seed and on nothing later."""
        return random.Random(seed_of(self.stage.recipe.seed, f"{self.path}{what}"))  # noqa: S311

    @property
    def memories(self) -> tuple[Learnt, ...]:
        """What was learnt on similar tasks, the most similar first."""
        return tuple(entry for entry, _ in self.experiences)

    async def selected(self, how: Literal["model", "statistics", "chance"], k: int) -> list[Member]:
        """Choose teams of the pool for the task.

        Where a model's choice is of no use, that is counted, and statistics choose.

        Args:
            how: Who chooses: the meta-model, what is known of the teams, or chance.
            k: How many, where there are as many.
        """
        members = list(self.members.values())
        if how == "chance":
            return self.chance("select").sample(members, min(k, len(members)))
        meta = self.meta if how == "model" else None
        path = f"{self.path}select"
        chosen = await select(meta, path, self.task, members, k=k, hits=self.experiences)
        if isinstance(chosen, Dropped):
            self.lose(-1, chosen)
            return await self.selected("statistics", k)
        return [self.members[name] for name in chosen.names]

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
        base = attempt.made.base if isinstance(attempt.made, Proposal) else None
        runs = await self._trying.runs(attempt.team, attempt.number, base=base)
        if isinstance(runs, Dropped):
            self.lose(attempt.number, runs)
            return
        made, recipe = attempt.made, self.stage.recipe
        self.candidates.append(
            Candidate(
                number=attempt.number,
                team=attempt.team,
                born=self._lineage(attempt),
                component=made.component if isinstance(made, Proposal) else None,
                sources=attempt.sources,
                edits=edit_words(made.base, made.child) if isinstance(made, Proposal) else (),
                member=self._twin(attempt.team),
                runs=runs,
                rewards=[score.value - recipe.beta * cost_of(run, recipe) for run, score in runs],
            )
        )

    def _twin(self, team: Team) -> str | None:
        """Find what the pool calls a team, where it has it."""
        identity = identity_of(team)
        alike = (one for one in self.members.values() if one.identity == identity)
        return next((one.name for one in alike if are_twins(one.team, team)), None)

    def parent(self, origin: Origin) -> Parent:
        """Give a team as operators are given it: with what its run on this task came to."""
        if isinstance(origin, Member) or not self.stage.recipe.trace:
            return Parent(team=origin.team)
        run, score = origin.worst
        told = digest(run, verdict=score, tokens=self.meta.limits.digest_tokens)
        return Parent(team=origin.team, digest=told, reward=origin.reward)

    @property
    def best(self) -> Candidate:
        """The candidate with the highest reward.

        Among equals those that ran come first, then those that the pool has, then parents before
        their children, then the cheaper: what changed nothing is no gain.
        """
        return max(
            self.candidates,
            key=lambda one: (
                one.executed,
                one.reward,
                one.member is not None,
                -self._generation(one),
                -one.usage.tokens,
                -one.number,
            ),
        )

    @property
    def newcomer(self) -> Candidate | None:
        """The best candidate, where it is new and the recipe lets it into the pool."""
        best, recipe = self.best, self.stage.recipe
        if best.member is not None or recipe.admission == "none":
            return None
        if recipe.admission == "best":
            return best
        gains = best.executed and best.reward > 0
        return best if gains and best.reward > self._bar(best) + recipe.margin else None

    def _bar(self, one: Candidate) -> float:
        """Give the best reward that a candidate's ancestors had on the task.

        Of a team of the pool that was not tried as it stands, it is the score that is expected.
        """
        before = [self.candidate(number) for number in one.sources]
        rewards = [max(source.reward, self._bar(source)) for source in before]
        tried = {one.member for one in before}
        rewards += [self._expected[name] for name in one.born.parents if name not in tried]
        return max(rewards, default=-math.inf)

    @functools.cached_property
    def _expected(self) -> Mapping[str, float]:
        """What each team of the pool is expected to score on the task; its members stay as seen."""
        return expected_scores([*self.members.values()], self.task.niche)

    def candidate(self, number: int) -> Candidate:
        """Find a candidate by its number."""
        return next(one for one in self.candidates if one.number == number)

    def _generation(self, one: Candidate) -> int:
        """Count the steps that lead to a candidate from teams of the pool."""
        if one.born.operator == "select":
            return 0
        return 1 + max((self._generation(self.candidate(n)) for n in one.sources), default=0)

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
                sources=one.sources,
                component=one.component,
                edits=one.edits,
                reason=one.born.reason,
            )
            for one in self.candidates
        ]

    def promising(self, what: str) -> list[Candidate]:
        """Give the candidates, those that ran and have the highest reward first.

        Equals come in an order of their own chance.
        """
        order = self.chance(what).sample(self.candidates, len(self.candidates))
        return sorted(order, key=lambda one: (not one.executed, -one.reward))

    def _lineage(self, attempt: Attempt) -> Lineage:
        """Write down where a team comes from: teams of the pool, and every step from there."""
        made, parents = attempt.made, attempt.parents
        names = _names(parents)
        if not isinstance(made, Proposal):
            return Lineage(operator="select", parents=names, task=self.task.id)
        sources = [(one.team, _steps(one)) for one in _in_order(made, parents)]
        return Lineage(
            operator=made.operator,
            parents=names,
            reason=made.reason,
            task=self.task.id,
            run=self.stage.name,
            steps=steps_to(made.child, made.operator, made.reason, *sources),
        )

    def _tell_judging(self, event: str, /, **fields: Any) -> None:
        """Count what judging consumes."""
        if event == "model_call":
            self.judging += Usage(**fields["usage"])

    def _tell(self, event: str, /, **fields: Any) -> None:
        """Count what operators consume."""
        if event == "model_call":
            self.spent += Usage(**fields["usage"])


def _names(parents: Sequence[Origin]) -> tuple[str, ...]:
    """Name the teams of the pool that parents go back to, each once."""
    names: dict[str, None] = {}
    for one in parents:
        found = one.born.parents if isinstance(one, Candidate) else (one.name,)
        names |= dict.fromkeys(found)
    return tuple(names)


def _steps(one: Origin) -> tuple[LineageStep, ...]:
    return one.born.steps if isinstance(one, Candidate) else ()


def _in_order(made: Proposal, parents: Sequence[Origin]) -> Sequence[Origin]:
    """Put the parent first that the edits are edits of."""
    return sorted(parents, key=lambda one: one.team != made.base)
