"""A search among candidates: what EvoMAS and its baselines do within an episode.

Teams are tried on the task, concurrently or in turn, and scored. The best one gives the answer, and
may enter the pool; see `admission.py`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....pool.expectation.expectation import expectations
from ....pool.ledger.members import Member
from ....pool.teams.lineage import steps_to
from ....pool.values.identity import are_isomorphic, identity_of
from ....runtime.agents.outcomes import Score
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
"""The parent of a child: a team of the pool, or a candidate of this episode."""


@dataclass(frozen=True, slots=True)
class SearchAttempt:
    """A team to try.

    Attributes:
        number: Its number in the episode, from 0.
        candidate: A team of the pool, unchanged, or the result of an operator.
        parents: Its parents; a proposal's edits apply to the first.
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
        """The operator that made it."""
        return "select" if isinstance(self.candidate, Team) else self.candidate.operator

    @property
    def sources(self) -> tuple[int, ...]:
        """The numbers of its parents among the candidates."""
        return tuple(parent.number for parent in self.parents if isinstance(parent, Candidate))


@dataclass(kw_only=True, eq=False)
class Search:
    """The search of one episode.

    Attributes:
        hits: Entries learnt on similar tasks, with their similarity.

    Its `author` writes edits: the meta-model, or chance.
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
        """The recipe's settings."""
        return self.episode.settings

    @property
    def members(self) -> Mapping[str, Member]:
        """The pool's teams that this episode sees."""
        return self.episode.view.members

    @functools.cached_property
    def expected(self) -> Mapping[str, Expectation]:
        """The expected score of each of the pool's teams on the task, as the episode sees it."""
        return expectations(self.members.values(), self.episode.task.niche or None)

    @property
    def memories(self) -> tuple[Learnt, ...]:
        """Entries learnt on similar tasks, the most similar first."""
        return tuple(entry for entry, _ in self.hits)

    async def remember(self) -> None:
        """Recall entries learnt on similar tasks, if the recipe uses memory."""
        if self.settings.memory:
            text = self.episode.task.text
            self.hits = await self.episode.recall(text, self.settings.memory)

    async def selected(self, how: Literal["model", "statistics", "chance"], k: int) -> list[Member]:
        """Choose teams of the pool for the task.

        If a model gives no valid answer, that is recorded and statistics choose.

        Args:
            how: What chooses: the meta-model, statistics of the teams, or chance.
            k: The number of teams; fewer if the pool has fewer.
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
        """Run teams on the task, concurrently, and score them.

        A child that equals a team tried in this episode is not run again. Rejected proposals, and
        teams without a score, are recorded.

        Args:
            attempts: The teams to try, with unique numbers in the episode.
            again: Whether to run teams again that were tried before.
        """
        teams = [candidate.team for candidate in self.candidates]
        runs: list[Coroutine[Any, Any, None]] = []
        # Duplicates are decided here, in the order of attempts, so that speed does not matter.
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
        """Record a rejected child."""
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
        """Run a team as often as the recipe says; without any score, return the first rejection."""
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
        identity = identity_of(team)
        alike = (member for member in self.members.values() if member.identity == identity)
        return next((member.name for member in alike if are_isomorphic(member.team, team)), None)

    def parent(self, origin: Origin) -> Parent:
        """Return a team as operators read it: with the result of its run on this task."""
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
        """Whether no further step can gain anything, because a candidate's reward is unbeatable."""
        return self.settings.early_stop and any(item.is_unbeatable for item in self.candidates)

    def candidate(self, number: int) -> Candidate:
        """Return a candidate by its number."""
        return next(item for item in self.candidates if item.number == number)

    def gains(self) -> Iterator[tuple[Component, float]]:
        """Yield the gains of mutations over their parents, with the component that they touched.

        Those of earlier tasks that this one sees come first, in order, then its own.
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
        """Return the search as an evolution trace."""
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
        """Keep a summary of the steps (EvoMAS Eq. 6); a task without steps leaves none.

        Args:
            number: Its sort key among the attempts.
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
        """Return the candidates: those without failures first, then by reward.

        Ties are in random order, seeded by `purpose`.
        """
        order = self.episode.chance(purpose).sample(self.candidates, len(self.candidates))
        return sorted(order, key=lambda item: (not item.executed, -item.reward))

    def end(self) -> None:
        """Answer with the best candidate, and let the pool take in the results.

        Raises:
            Halted: There is no candidate to answer with.
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
        """Return the lineage of an attempt: its ancestors in the pool, and every step since."""
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
    """Name a run of a candidate. A child reuses its parents' runs with the same repeat."""
    return f"candidate {number}" + (f"/repeat {repeat}" if repeat else "")


def _names(parents: Sequence[Origin]) -> tuple[str, ...]:
    """Return the names of the pool's teams behind parents, each once."""
    names: dict[str, None] = {}
    for parent in parents:
        result = parent.lineage.parents if isinstance(parent, Candidate) else (parent.name,)
        names |= dict.fromkeys(result)
    return tuple(names)


def _steps(origin: Origin) -> tuple[LineageStep, ...]:
    return origin.lineage.steps if isinstance(origin, Candidate) else ()


def _in_order(proposal: Proposal, parents: Sequence[Origin]) -> Sequence[Origin]:
    """Return the parents, the base of the edits first."""
    return sorted(parents, key=lambda origin: origin.team != proposal.base)
