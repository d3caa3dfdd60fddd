"""A search among candidates: what EvoMAS and its baselines do within an episode.

Teams are tried on the task, side by side or one after the other; each is scored; the best of them
is the answer, and may come into the pool. What then happens to the pool is in `admission.py`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....pool.expectation.expectation import expectations
from ....pool.ledger.members import Member
from ....pool.teams.lineage import steps_to
from ....pool.values.identity import are_isomorphic, identity_of
from ....runtime.values.score import Score
from ....runtime.values.together import together
from ....schema.team.team import Lineage, LineageStep, Team
from ...core.digest import digest
from ...core.operator import operator_of
from ...core.proposal import Parent, Proposal, RejectedProposal, edit_words
from ...evolution.candidates import Candidate
from ...evolution.episode import Halted
from .admission import Admitting
from .chance import Chance
from .consolidate import EvolutionStep
from .ranking import best_of

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping, Sequence
    from typing import Literal

    from ....pool.expectation.expectation import Expectation
    from ....pool.ledger.learnt import Learnt
    from ....runtime.agents.outcomes import Run
    from ....schema.edits import Component
    from ...core.meta import OperatorModel
    from ...evolution.episode import Episode
    from .settings import SearchSettings

Origin = Member | Candidate
"""What a child is made from: a team of the pool, or one that was tried in this episode."""


@dataclass(frozen=True, slots=True)
class SearchAttempt:
    """Something to try.

    Attributes:
        number: The how-many-th of its episode it is, from 0.
        candidate: A team of the pool, unchanged, or the result of an operator.
        parents: What it was made from; the first is what a proposal's edits are edits of.
    """

    number: int
    candidate: Team | Proposal | RejectedProposal
    parents: Sequence[Origin]

    @property
    def team(self) -> Team:
        """The team to run."""
        if isinstance(self.candidate, RejectedProposal):
            raise TypeError("what was dropped has no team.")
        return self.candidate.child if isinstance(self.candidate, Proposal) else self.candidate

    @property
    def operator(self) -> str:
        """The operator of the step."""
        return "select" if isinstance(self.candidate, Team) else self.candidate.operator

    @property
    def sources(self) -> tuple[int, ...]:
        """The numbers of the candidates that it was made of."""
        return tuple(parent.number for parent in self.parents if isinstance(parent, Candidate))


@dataclass(kw_only=True, eq=False)
class Search:
    """The search of one episode.

    Attributes:
        hits: What was learnt on similar tasks, with the similarity.

    Its `author` is who writes edits: the meta-model, or chance.
    """

    episode: Episode
    hits: Sequence[tuple[Learnt, float]] = ()
    candidates: list[Candidate] = field(default_factory=list[Candidate])

    def __post_init__(self) -> None:
        stage, episode = self.episode.context, self.episode
        drawn = Chance(
            catalogue=stage.catalogue,
            ceiling=stage.ceiling,
            seed=stage.recipe.seed,
            tell=episode.tell,
        )
        self.author: OperatorModel = (
            episode.meta_model if self.settings.operators == "model" else drawn
        )

    @property
    def settings(self) -> SearchSettings:
        """What the recipe says."""
        return self.episode.settings

    @property
    def members(self) -> Mapping[str, Member]:
        """The teams of the pool, as this episode sees it."""
        return self.episode.view.members

    @functools.cached_property
    def expected(self) -> Mapping[str, Expectation]:
        """What each team of the pool is expected to score on the task; its members stay as seen."""
        return expectations(self.members.values(), self.episode.task.niche or None)

    @property
    def memories(self) -> tuple[Learnt, ...]:
        """What was learnt on similar tasks, the most similar first."""
        return tuple(entry for entry, _ in self.hits)

    async def remember(self) -> None:
        """Look up what was learnt on similar tasks, where the recipe wants to know."""
        if self.settings.memory:
            text = self.episode.task.text
            self.hits = await self.episode.recall(text, self.settings.memory)

    async def selected(self, how: Literal["model", "statistics", "chance"], k: int) -> list[Member]:
        """Choose teams of the pool for the task.

        Where a model's choice is of no use, that is counted, and statistics choose.

        Args:
            how: Who chooses: the meta-model, what is known of the teams, or chance.
            k: How many, where there are as many.
        """
        members, episode = list(self.members.values()), self.episode
        if how == "chance":
            return episode.chance("select").sample(members, min(k, len(members)))
        meta = episode.meta_model if how == "model" else None
        path = f"{episode.path}select"
        chosen = await operator_of("select").act(
            meta, path, episode.task, members, k=k, hits=self.hits, expected=self.expected
        )
        if (selection := episode.usable(chosen, at=-1)) is None:
            return await self.selected("statistics", k)
        return [self.members[name] for name in selection.names]

    async def evaluate(self, *attempts: SearchAttempt, again: bool = False) -> None:
        """Run teams on the task, side by side, and score them.

        A child that equals one that was tried in this episode is not run again. What did not come
        about, or gets no score, is counted.

        Args:
            attempts: What to try. No two of an episode have the same number.
            again: Also run a team that was tried already.
        """
        teams = [candidate.team for candidate in self.candidates]
        runs: list[Coroutine[Any, Any, None]] = []
        # Who is the duplicate of whom is settled here, by number, and not by who is done first.
        for attempt in attempts:
            if isinstance(attempt.candidate, RejectedProposal):
                self.lose(attempt.number, attempt.candidate)
            elif not again and any(are_isomorphic(attempt.team, tried) for tried in teams):
                why = "it equals a team that was tried on this task already."
                self.lose(attempt.number, RejectedProposal(operator=attempt.operator, reason=why))
            else:
                teams.append(attempt.team)
                runs.append(self._try(attempt))
        await together(*runs)
        self.candidates.sort(key=lambda item: item.number)

    def lose(self, number: int, rejected: RejectedProposal) -> None:
        """Count a child that did not come about."""
        self.episode.lose(rejected, at=number)

    async def _try(self, attempt: SearchAttempt) -> None:
        runs = await self._runs(attempt)
        if isinstance(runs, RejectedProposal):
            self.lose(attempt.number, runs)
            return
        result = attempt.candidate
        self.candidates.append(
            Candidate(
                number=attempt.number,
                team=attempt.team,
                lineage=self._lineage(attempt),
                component=result.component if isinstance(result, Proposal) else None,
                sources=attempt.sources,
                edits=edit_words(result.base, result.child) if isinstance(result, Proposal) else (),
                member=self._duplicate_of(attempt.team),
                runs=runs,
                rewards=[self.episode.reward(run, score) for run, score in runs],
            )
        )

    async def _runs(self, attempt: SearchAttempt) -> list[tuple[Run, Score]] | RejectedProposal:
        """Run a team as often as the recipe wants; without a score, the first reason why."""
        numbers = range(self.settings.repeats)
        results = await together(*(self._run(attempt, number) for number in numbers))
        scored = [item for item in results if not isinstance(item, RejectedProposal)]
        lost = [item for item in results if isinstance(item, RejectedProposal)]
        return scored or lost[0]

    async def _run(
        self, attempt: SearchAttempt, repeat: int
    ) -> tuple[Run, Score] | RejectedProposal:
        result, what = attempt.candidate, _sample(attempt.number, repeat)
        base, sources = None, ()
        if isinstance(result, Proposal):
            base, sources = result.base, _in_order(result, attempt.parents)
        parents = [
            _sample(source.number, repeat) for source in sources if isinstance(source, Candidate)
        ]
        run = await self.episode.run(attempt.team, what, base=base, parents=parents)
        if run.is_infrastructure_failure:
            why = "it gives its model less time than its parent did, and less than that needs."
            return RejectedProposal(operator="run", reason=why)
        score = await self.episode.score(run, what)
        return score if isinstance(score, RejectedProposal) else (run, score)

    def _duplicate_of(self, team: Team) -> str | None:
        """Find what the pool calls a team, where it has it."""
        identity = identity_of(team)
        alike = (member for member in self.members.values() if member.identity == identity)
        return next((member.name for member in alike if are_isomorphic(member.team, team)), None)

    def parent(self, origin: Origin) -> Parent:
        """Return a team as operators see it: with the result of its run on this task."""
        if isinstance(origin, Member) or not self.settings.trace:
            return Parent(team=origin.team)
        run, score = origin.worst
        text = digest(run, verdict=score, tokens=self.episode.meta_model.limits.digest_tokens)
        return Parent(team=origin.team, digest=text, reward=origin.reward)

    @property
    def best(self) -> Candidate:
        """The best candidate; see `best_of`, also for ties."""
        return best_of(self.candidates)

    @property
    def is_over(self) -> bool:
        """Whether no step can gain anything, as some candidate's reward cannot be beaten."""
        return self.settings.early_stop and any(item.is_unbeatable for item in self.candidates)

    def candidate(self, number: int) -> Candidate:
        """Find a candidate by its number."""
        return next(item for item in self.candidates if item.number == number)

    def gains(self) -> Iterator[tuple[Component, float]]:
        """Yield what mutations gained over their parents, by the component that they touched.

        Those of the tasks that this one sees come first, in order, then those of this one.
        """
        for line in self.episode.past:
            rewards = {item["number"]: item["reward"] for item in line["candidates"]}
            for entry in line["candidates"]:
                if entry["component"] is not None:
                    yield entry["component"], entry["reward"] - rewards[entry["sources"][0]]
        for entry in self.candidates:
            if entry.component is not None:
                yield entry.component, entry.reward - self.candidate(entry.sources[0]).reward

    def steps(self) -> list[EvolutionStep]:
        """Return the search as operators see it."""
        return [
            EvolutionStep(
                number=candidate.number,
                operator=candidate.lineage.operator,
                team=candidate.team.name,
                content_hash=candidate.team.content_hash,
                reward=candidate.reward,
                parents=candidate.lineage.parents,
                sources=candidate.sources,
                component=candidate.component,
                edits=candidate.edits,
                reason=candidate.lineage.reason,
            )
            for candidate in self.candidates
        ]

    async def consolidate(self, number: int) -> None:
        """Keep what the steps showed (EvoMAS Eq. 6); a task without any leaves nothing.

        Args:
            number: Where this stands among the attempts.
        """
        episode, act = self.episode, operator_of("consolidate").act
        if not any(item.sources for item in self.candidates):
            return
        learnt = await act(
            episode.meta_model, f"{episode.path}consolidate", episode.task, self.steps()
        )
        if entry := episode.usable(learnt, at=number):
            episode.keep(entry, "learnt")

    def promising(self, purpose: str) -> list[Candidate]:
        """Return the candidates, those that ran and have the highest reward first.

        Equals come in an order of their own chance.
        """
        order = self.episode.chance(purpose).sample(self.candidates, len(self.candidates))
        return sorted(order, key=lambda item: (not item.executed, -item.reward))

    def end(self) -> None:
        """Answer with the best candidate, and have the pool take in what there is for it.

        Raises:
            Halted: There is none, so there is nothing to answer with.
        """
        episode = self.episode
        if not self.candidates:
            lost = episode.rejected
            why = lost[-1].reason if lost else "the pool has no team for it."
            raise Halted(f"task {episode.task.id}: nothing could be tried and scored: {why}")
        best = self.best
        run, score = best.worst
        episode.answered(run, Score(value=best.score, reason=score.reason))
        episode.closing = Admitting(search=self)

    def _lineage(self, attempt: SearchAttempt) -> Lineage:
        """Write down where a team comes from: teams of the pool, and every step from there."""
        result, parents, task = attempt.candidate, attempt.parents, self.episode.task
        names = _names(parents)
        if not isinstance(result, Proposal):
            return Lineage(operator="select", parents=names, task=task.id)
        sources = [(origin.team, _steps(origin)) for origin in _in_order(result, parents)]
        return Lineage(
            operator=result.operator,
            parents=names,
            reason=result.reason,
            task=task.id,
            run=self.episode.context.name,
            steps=steps_to(result.child, result.operator, result.reason, *sources),
        )


def _sample(number: int, repeat: int) -> str:
    """Name a run of a candidate. A child's is made of that of its parents with the same repeat."""
    return f"candidate {number}" + (f"/repeat {repeat}" if repeat else "")


def _names(parents: Sequence[Origin]) -> tuple[str, ...]:
    """Name the teams of the pool that parents go back to, each once."""
    names: dict[str, None] = {}
    for parent in parents:
        result = parent.lineage.parents if isinstance(parent, Candidate) else (parent.name,)
        names |= dict.fromkeys(result)
    return tuple(names)


def _steps(origin: Origin) -> tuple[LineageStep, ...]:
    return origin.lineage.steps if isinstance(origin, Candidate) else ()


def _in_order(proposal: Proposal, parents: Sequence[Origin]) -> Sequence[Origin]:
    """Put the parent first that the edits are edits of."""
    return sorted(parents, key=lambda origin: origin.team != proposal.base)
