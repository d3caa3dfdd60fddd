"""CoDream: knowledge of some members that others lack, extracted and shared (EvoChamber §3.5).

A team dreams after a task with a low reward, or with disagreement among its members. Each member
diagnoses its own work. Failures are compared with successes. A model imagines strategies, members
criticise them, and the survivors become insights. A member that failed then attempts the task again
with each insight. The insights that helped are written into their recipients' archives. If every
member failed, strategies follow from the members' own diagnoses, or the team abstains, as the
recipe says. Without a failure, it always abstains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .....pool.ledger.changes import EventNoted
from .....runtime.scoring.voting import conclusion
from .....runtime.values.together import together
from ....core.operator import operator_of
from ....core.proposal import RejectedProposal
from ..attempts import disagree
from ..work import works
from .handing_on import counts, handed_on, tested
from .rules import mean_of, own_faults, pairs, sides, survivors, why, why_not

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .....pool.population.population import Population
    from .....runtime.agents.outcomes import Run
    from ....evolution.episode import Episode
    from ..attempts import MemberAttempt
    from ..seating import Seated
    from ..settings import PopulationSettings
    from ..work import MemberWork
    from .ideas import Difference, Idea, Insight, Opinion
    from .rules import Sides

DREAM = "dream"
"""The name of a dream's event."""
IDEAS = 2
"""Ideas to imagine for each insight that a dream may have."""
MOST_NICHES = 32
"""The most kinds of task that a model may choose from."""


async def dream(
    episode: Episode,
    population: Population,
    seated: Seated,
    run: Run,
    attempts: Sequence[MemberAttempt],
    *,
    reward: float,
) -> None:
    """Dream if the reward was low or members disagreed, and keep the result.

    Every verified insight becomes one entry for all its recipients. Recipients that already have a
    near-duplicate get a separate entry, which replaces it. Everything that failed is counted, in
    the event `dream` and as rejections.

    Args:
        population: The population, including this task's trial.
        attempts: The members' attempts, scored.
        reward: The reward of the team's answer, in [0, 1].
    """
    settings: PopulationSettings = episode.settings
    if not (episode.learning and settings.codream):
        return
    mean = mean_of(_scores(attempts), reward)
    reason = why(mean, settings.theta, disagree=disagree(attempts, episode.task))
    if reason is None:
        episode.figures |= counts({})
        return
    team = works(episode, seated, run, attempts)
    scores = {work.agent: work.score for work in team if work.score is not None}
    about = {"task": episode.task.id, "niche": episode.task.niche, "reward": reward, "mean": mean}
    item = _Dream(
        episode=episode,
        population=population,
        team=team,
        answers=_right(episode, attempts),
        about={**about, "why": reason, "scores": scores},
    )
    await item.dreamt()
    episode.figures |= counts(item.about)
    episode.keep(EventNoted(what=DREAM, about=item.about), DREAM)


def _scores(attempts: Sequence[MemberAttempt]) -> list[float]:
    """Return the scores of the attempts that were made in the team."""
    scored = [attempt for attempt in attempts if not attempt.is_alone]
    return [attempt.score for attempt in scored if attempt.score is not None]


def _right(episode: Episode, attempts: Sequence[MemberAttempt]) -> frozenset[str]:
    """Return the conclusions of the reference answer and of the successful attempts."""
    theta, task = episode.settings.theta, episode.task
    scored = [(attempt.answer, attempt.score) for attempt in attempts]
    right = [answer for answer, score in scored if score is not None and score >= theta]
    right += [] if task.answer is None else [task.answer]
    return frozenset(conclusion(answer, task).partition(" ")[2] for answer in right)


def known_niches(population: Population, niche: str | None) -> tuple[str, ...]:
    """Return the niches that insights may be for: the task's own, then the newest."""
    named = dict.fromkeys((niche or "", *reversed(population.niches)))
    return tuple(name for name in named if name)[:MOST_NICHES]


@dataclass(kw_only=True, eq=False)
class _Dream:
    """One dream.

    Attributes:
        team: The members' work, in the order of their seats.
    """

    episode: Episode
    population: Population
    team: Sequence[MemberWork]
    answers: frozenset[str]
    about: dict[str, Any]

    @property
    def sides(self) -> Sides:
        """The members that failed, and those that succeeded."""
        return sides(self.team, self.episode.settings.theta)

    async def dreamt(self) -> None:
        """Run the phases, as long as each gives the next one something to work on."""
        of = self.sides
        because = why_not(of, self.episode.settings.shared_failure)
        self.about |= {"abstained": bool(because), "shared_failure": not of.succeeded}
        if because:
            self.about["because"] = because
        differences = [] if because else await self._differences()
        ideas = await self._ideas(differences) if differences else ()
        left, criticism = await self._debated(ideas) if ideas else ((), ())
        insights = await self._crystallized(left, criticism) if left else ()
        self.about |= {"differences": len(differences), "ideas": len(ideas), "survived": len(left)}
        testeds = await tested(self.episode, insights, self.team)
        failed = [work.agent for work in of.failed]
        self.about |= await handed_on(self.episode, self.population, testeds, failed)

    async def _differences(self) -> list[Difference]:
        """Ask each member to diagnose its own work, then compare failures with successes.

        Without a success, the diagnoses are the only source.
        """
        reflections = await together(
            *(self._ask("reflect", work.agent, work) for work in self.team)
        )
        self._lose(reflections)
        self.team = [
            work if isinstance(text, RejectedProposal) else replace(work, diagnosis=text)
            for work, text in zip(self.team, reflections, strict=True)
        ]
        if not self.sides.succeeded:
            return [*own_faults(self.sides.failed)]
        compared = await together(
            *(
                self._ask("contrast", f"{failed.agent} {giver.agent}", failed, giver)
                for failed, giver in pairs(self.sides)
            )
        )
        return self._lose(compared)

    async def _ideas(self, differences: Sequence[Difference]) -> Sequence[Idea]:
        how = {"niches": self._niches, "most": IDEAS * self.episode.settings.insights}
        result = await self._ask("imagine", "", differences, **how)
        return next(iter(self._lose([result])), ())

    async def _debated(
        self, ideas: Sequence[Idea]
    ) -> tuple[Sequence[Idea], Sequence[Sequence[str]]]:
        """Ask each member to criticise the ideas; return the survivors and their criticism."""
        critiques = await together(
            *(self._ask("debate", work.agent, work, ideas) for work in self.team)
        )
        opinions: dict[str, Sequence[Opinion]] = {
            of.agent: of.opinions for of in self._lose(critiques)
        }
        left = survivors(ideas, opinions, [work.agent for work in self.team])
        criticism = [[of[place].reason for of in opinions.values()] for place in left]
        return [ideas[place] for place in left], criticism

    async def _crystallized(
        self, left: Sequence[Idea], criticism: Sequence[Sequence[str]]
    ) -> Sequence[Insight]:
        how = {"niches": self._niches, "most": self.episode.settings.insights}
        fields = {"criticism": criticism, "answers": self.answers}
        result = await self._ask("crystallize", "", left, **fields, **how)
        return next(iter(self._lose([result])), ())

    @property
    def _niches(self) -> Sequence[str]:
        return known_niches(self.population, self.episode.task.niche)

    async def _ask(self, phase: str, who: str, *inputs: Any, **how: Any) -> Any:
        """Run the operator of a phase, under a path of its own."""
        path = "/".join(filter(None, (f"{self.episode.path}{DREAM}", phase, who)))
        act = operator_of(f"dream_{phase}").act
        return await act(self.episode.meta_model, path, self.episode.task, *inputs, **how)

    def _lose(self, results: Sequence[Any]) -> list[Any]:
        """Record the rejections, and return the other results."""
        usable = [self.episode.usable(result) for result in results]
        return [result for result in usable if result is not None]
