"""The end of a dream: insights are tested, and those that helped are passed on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from .....pool.ledger.learnt import LONGEST_TASK, Learnt
from .....runtime.agents.round_state import RoundState
from .....runtime.values.together import together
from ....core.proposal import RejectedProposal
from ..alone import alone
from ..lifecycle.fusing import settled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .....pool.population.population import Population, RankingScore
    from ....evolution.episode import Episode
    from ..settings import PopulationSettings
    from ..work import MemberWork
    from .ideas import Insight


def recipients(
    population: Population, insight: Insight, failed: Collection[str], settings: PopulationSettings
) -> tuple[str, ...]:
    """Return the agents into whose archives an insight is written.

    Args:
        population: The population, including this task's trial.
        settings: Only `transfer`, `deficit` and `cross_domain` are used.

    Returns:
        Active agents, in the order of their births, without a giver that succeeded. An insight for
        the task goes to the members that failed; other insights go to agents with a deficit, or to
        everybody.
    """
    chosen = {*_audience(population, insight, failed, settings)}
    if insight.of.giver not in failed:
        chosen.discard(insight.of.giver)
    return tuple(agent for agent in population.agents if agent in chosen)


def _audience(
    population: Population, insight: Insight, failed: Collection[str], settings: PopulationSettings
) -> Collection[str]:
    is_open = insight.level == "cross_domain" and settings.cross_domain == "everybody"
    if is_open or settings.transfer == "symmetric":
        return population.agents
    if insight.level == "task":
        return failed
    if settings.deficit == "recent":
        initial = population.rates.initial
        return below({name: population.rolling.get(name, initial) for name in population.agents})
    lacking = below(_levels(population, insight))
    return lacking.union(failed) if settings.deficit == "niche_or_failed" else lacking


def below(levels: Mapping[str, float]) -> frozenset[str]:
    """Return the agents strictly below the median."""
    if not levels:
        return frozenset()
    middle = median(levels.values())
    return frozenset(name for name, level in levels.items() if level < middle)


def _levels(population: Population, insight: Insight) -> Mapping[str, float]:
    """Return every agent's competence in the scope of an insight."""
    agents = population.agents
    if insight.level == "cross_domain":
        return {name: _mean(agent, population.niches) for name, agent in agents.items()}
    return {name: agent.q(insight.niche or "") for name, agent in agents.items()}


def _mean(result: RankingScore, niches: Collection[str]) -> float:
    """Return an agent's mean competence over all niches of the population."""
    return fmean(result.q(niche) for niche in niches) if niches else result.rates.initial


LEARNT = "This was learnt on tasks like this one. It may not hold here:\n"


async def attempted_again(
    episode: Episode, work: MemberWork, insight: Insight, label: str
) -> float | RejectedProposal:
    """Run a member on the task again, alone, with an insight in its context.

    With several `reattempts`, the first one without a gain is the last.

    Returns:
        The lowest score of the attempts, in [0, 1], by the recipe's rule; 0 without an answer.
    """
    state = RoundState(bulletin=f"{LEARNT}{insight.text}")
    team, least = alone(episode, work.account.team, work.agent), 1.0
    for number in range(1, episode.settings.reattempts + 1):
        place = label if number == 1 else f"{label}.{number}"
        score = await episode.score(await episode.run(team, place, state=state), place)
        if isinstance(score, RejectedProposal):
            return score
        least = min(least, score.value)
        if least <= (work.score or 0.0):
            break
    return least


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """An insight and the score of new attempts with it.

    Attributes:
        before: The score of the member's first attempt, in [0, 1].
        after: The lowest score of its new attempts; None without a score.
    """

    insight: Insight
    before: float
    after: float | None

    @property
    def gain(self) -> float:
        """The improvement; an insight is verified if it is above 0."""
        return 0.0 if self.after is None else self.after - self.before

    def event_fields(self, to: int) -> Mapping[str, Any]:
        """Return its fields in the event.

        Args:
            to: The number of archives it was written into.
        """
        insight = self.insight
        reach = {"level": insight.level, "niche": insight.niche, "giver": insight.of.giver}
        trial = {"by": insight.of.failed, "before": self.before, "after": self.after}
        return {**reach, **trial, "verified": self.gain > 0, "to": to}


async def tested(
    episode: Episode, insights: Sequence[Insight], team: Sequence[MemberWork]
) -> list[Tested]:
    """Run a new attempt with each insight, concurrently.

    The attempt is made by the member that was compared with the insight's giver. An attempt without
    a score is recorded as a rejection.
    """
    by_name = {work.agent: work for work in team}
    trying = [(insight, by_name[insight.of.failed]) for insight in insights]
    result = await together(
        *(
            attempted_again(episode, work, insight, f"dream/verify {number}")
            for number, (insight, work) in enumerate(trying, 1)
        )
    )
    return [
        Tested(insight=insight, before=work.score or 0.0, after=episode.usable(after))
        for (insight, work), after in zip(trying, result, strict=True)
    ]


async def handed_on(
    episode: Episode, population: Population, results: Sequence[Tested], failed: Collection[str]
) -> Mapping[str, Any]:
    """Write the verified insights into their recipients' archives.

    They are written in turn, because one may be a near-duplicate of another.

    Args:
        population: The population, including this task's trial.
    """
    records: list[Mapping[str, Any]] = []
    for number, item in enumerate(results, 1):
        to: tuple[str, ...] = ()
        if item.gain > 0:
            to = recipients(population, item.insight, failed, episode.settings)
            await _write(episode, item, to, number)
        records.append(item.event_fields(len(to)))
    verified = [entry for entry in results if entry.gain > 0]
    return {
        "came": len(results),
        "verified": len(verified),
        "givers": sorted({entry.insight.of.giver for entry in verified}),
        "insights": records,
    }


def counts(about: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the figures of a task's dream for the report.

    Args:
        about: The fields of the dream's event; empty if the team did not dream.
    """
    because = about.get("because")
    reasons = ("nobody failed", "nobody succeeded", "nobody has an attempt")
    written = sum(insight["to"] for insight in about.get("insights", ()))
    return {
        "dreams": int(bool(about)),
        **{f"dreams abstained, {reason}": int(because == reason) for reason in reasons},
        "dreams from shared failure": int(not because and about.get("shared_failure", False)),
        "dream insights tried": about.get("came", 0),
        "dream insights verified": about.get("verified", 0),
        "dream insights written into archives": written,
    }


async def _write(episode: Episode, result: Tested, to: Sequence[str], number: int) -> None:
    """Keep one entry for all owners without a near-duplicate, and one for each earlier entry."""
    entry = _entry(episode, result)
    parts = await settled(episode, entry, to, f"{episode.path}dream/fuse {number}")
    for part_number, part in enumerate(parts, 1):
        name = f"insight {number}" if part_number == 1 else f"insight {number}.{part_number}"
        episode.keep(replace(part.entry, to=part.owners), name)
        if part.rejected is not None:
            episode.lose(part.rejected)


def _entry(episode: Episode, result: Tested) -> Learnt:
    insight, task = result.insight, episode.task
    return Learnt(
        kind=insight.kind,
        task=task.text[:LONGEST_TASK],
        text=insight.text,
        niche=insight.niche,
        giver=insight.of.giver,
        level=insight.level,
        case=task.id,
        credit=result.gain,
        run=episode.context.name,
    )
