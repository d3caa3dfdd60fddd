"""The end of a dream: insights are tested, and those that helped are handed on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .....pool.ledger.learnt import LONGEST_TASK, Learnt
from .....runtime.values.together import together
from ....core.proposal import RejectedProposal
from ..lifecycle.fusing import settled
from .routing import recipients
from .verifying import attempted_again

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .....pool.population.population import Population
    from ....evolution.episode import Episode
    from ..work import MemberWork
    from .ideas import Insight


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

    def told(self, to: int) -> Mapping[str, Any]:
        """Give what the event says of it.

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

    Args:
        team: What the members did.
    """
    by_name = {one.agent: one for one in team}
    trying = [(insight, by_name[insight.of.failed]) for insight in insights]
    came = await together(
        *(
            attempted_again(episode, work, one, f"dream/verify {number}")
            for number, (one, work) in enumerate(trying, 1)
        )
    )
    for lost in came:
        if isinstance(lost, RejectedProposal):
            episode.lose(lost)
    return [
        Tested(
            insight=one,
            before=work.score or 0.0,
            after=None if isinstance(after, RejectedProposal) else after,
        )
        for (one, work), after in zip(trying, came, strict=True)
    ]


async def handed_on(
    episode: Episode, population: Population, came: Sequence[Tested], failed: Collection[str]
) -> Mapping[str, Any]:
    """Write the insights that helped into the archives of those whom they are for.

    One after the other: what one of them became, the next may say almost the same as.

    Args:
        population: Who there is, with the task's own trial taken in.

    Returns:
        What the event of the dream says of it.
    """
    told: list[Mapping[str, Any]] = []
    for number, one in enumerate(came, 1):
        to: tuple[str, ...] = ()
        if one.gain > 0:
            to = recipients(population, one.insight, failed, episode.settings)
            await _write(episode, one, to, number)
        told.append(one.told(len(to)))
    verified = [one for one in came if one.gain > 0]
    return {
        "came": len(came),
        "verified": len(verified),
        "givers": sorted({one.insight.of.giver for one in verified}),
        "insights": told,
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


async def _write(episode: Episode, one: Tested, to: Sequence[str], number: int) -> None:
    """Keep a line for all to whom an insight is new, and one for each earlier entry it joins."""
    entry = _entry(episode, one)
    parts = await settled(episode, entry, to, f"{episode.path}dream/fuse {number}")
    for part_number, part in enumerate(parts, 1):
        name = f"insight {number}" if part_number == 1 else f"insight {number}.{part_number}"
        episode.keep(replace(part.entry, to=part.owners), name)
        if part.lost is not None:
            episode.lose(part.lost)


def _entry(episode: Episode, one: Tested) -> Learnt:
    insight, task = one.insight, episode.task
    return Learnt(
        kind=insight.kind,
        task=task.text[:LONGEST_TASK],
        text=insight.text,
        niche=insight.niche,
        giver=insight.of.giver,
        level=insight.level,
        case=task.id,
        credit=one.gain,
        run=episode.stage.name,
    )
