"""The end of a dream: insights are tested, and those that helped are handed on."""

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
    """Say into whose archives an insight is written.

    Args:
        population: Who there is, with the task's own trial taken in.
        failed: The members of the team that failed at the task.
        settings: What `transfer`, `deficit` and `cross_domain` say.

    Returns:
        Agents that live, in the order of their births, never a giver that succeeded. Of an insight
        for the task those who failed at it; of others those who lack it, or everybody.
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
    """Name those that are strictly below the median of all."""
    if not levels:
        return frozenset()
    middle = median(levels.values())
    return frozenset(name for name, level in levels.items() if level < middle)


def _levels(population: Population, insight: Insight) -> Mapping[str, float]:
    """Return everybody's competence, where the insight is to be of use."""
    agents = population.agents
    if insight.level == "cross_domain":
        return {name: _mean(agent, population.niches) for name, agent in agents.items()}
    return {name: agent.q(insight.niche or "") for name, agent in agents.items()}


def _mean(result: RankingScore, niches: Collection[str]) -> float:
    """Return an agent's mean competence over all niches that were met by anybody."""
    return fmean(result.q(niche) for niche in niches) if niches else result.rates.initial


LEARNT = "This was learnt on tasks like this one. It may not hold here:\n"


async def attempted_again(
    episode: Episode, work: MemberWork, insight: Insight, label: str
) -> float | RejectedProposal:
    """Have a member attempt the task again, alone, with an insight in what it reads.

    Where the recipe wants several attempts, they end with the first that is worth no more.

    Returns:
        What the answer is worth, in [0, 1], scored as the recipe says; zero without an answer. Of
        several the least.
    """
    carry = RoundState(bulletin=f"{LEARNT}{insight.text}")
    team, least = alone(episode, work.account.team, work.agent), 1.0
    for number in range(1, episode.settings.reattempts + 1):
        place = label if number == 1 else f"{label}.{number}"
        score = await episode.score(await episode.run(team, place, state=carry), place)
        if isinstance(score, RejectedProposal):
            return score
        least = min(least, score.value)
        if least <= (work.score or 0.0):
            break
    return least


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """An insight, and what another attempt with it was worth.

    Attributes:
        before: What the first attempt of who attempted it again was worth, in [0, 1].
        after: What another was worth, the least of them; None, where nobody could say.
    """

    insight: Insight
    before: float
    after: float | None

    @property
    def gain(self) -> float:
        """How much more it was worth; not above 0: the insight is not verified."""
        return 0.0 if self.after is None else self.after - self.before

    def event_fields(self, to: int) -> Mapping[str, Any]:
        """Return what the event says of it.

        Args:
            to: Into how many archives it was written.
        """
        insight = self.insight
        reach = {"level": insight.level, "niche": insight.niche, "giver": insight.of.giver}
        trial = {"by": insight.of.failed, "before": self.before, "after": self.after}
        return {**reach, **trial, "verified": self.gain > 0, "to": to}


async def tested(
    episode: Episode, insights: Sequence[Insight], team: Sequence[MemberWork]
) -> list[Tested]:
    """Have who failed attempt the task again with each insight, side by side.

    It is the member that was compared with the insight's giver. What has no score counts as lost.
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
    """Write the insights that helped into the archives of those whom they are for.

    One after the other: what one of them became, the next may say almost the same as.

    Args:
        population: Who there is, with the task's own trial taken in.

    Returns:
        What the event of the dream says of it.
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
    """Return the numbers of a task's dream that a report sums up.

    Args:
        about: What the event of the dream says; empty, where the team did not dream.
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
    """Keep a line for all to whom an insight is new, and one for each earlier entry it joins."""
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
