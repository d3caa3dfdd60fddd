"""Cases that a router learns from: each was worked on by the single agent and by the team."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ...pool.ledger.changes import EventNoted
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value, kept, to_value
from .features import Features

Choice = Literal["single", "team"]
"""Who works on a case."""
ROUTED = "routed"
"""What a pool's event is called that tells a case."""


@kept()
class CaseSpending:
    """What something consumed.

    Attributes:
        cost: Its cost in the recipe's unit, per what the recipe says.
    """

    cost: float = 0.0
    calls: int = 0
    tokens: int = 0

    @classmethod
    def of(cls, usage: Usage, cost: float) -> CaseSpending:
        """Take it from what model calls consumed."""
        return cls(cost=cost, calls=usage.calls, tokens=usage.tokens)

    def __add__(self, other: CaseSpending) -> CaseSpending:
        return CaseSpending(
            cost=self.cost + other.cost,
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
        )


@kept()
class RoutingOutcome:
    """How a case went with the single agent, or with the team.

    Attributes:
        score: Of the answer, in [0, 1].
        name: The team of the pool that worked on it.
    """

    name: str = ""
    score: float
    spent: CaseSpending = CaseSpending()

    def worth(self, beta: float) -> float:
        """Return the score less `beta` times the cost, as a reward has it (EvoMAS Eq. 4)."""
        return self.score - beta * self.spent.cost


@kept()
class Case:
    """A case of which it is known how both did.

    Attributes:
        features: What it looks like; a feature that is not known is not there.
        gauging: What the features took that a model judged.
    """

    task: str
    features: Features
    single: RoutingOutcome
    team: RoutingOutcome
    gauging: CaseSpending = CaseSpending()

    def side(self, choice: Choice) -> RoutingOutcome:
        """Return how the chosen one did."""
        return self.single if choice == "single" else self.team

    def event(self) -> EventNoted:
        """Return it as an event of a pool."""
        return EventNoted(what=ROUTED, about=to_value(self))

    @classmethod
    def of(cls, event: EventNoted) -> Case:
        """Read what `event` wrote."""
        return from_value(cls, event.about)


def cases_of(events: Iterable[EventNoted], *, single: str | None = None) -> tuple[Case, ...]:
    """Find cases among a pool's events.

    Args:
        single: What the pool calls the single agent, where cases of another one are left out.

    Returns:
        One case of each task: the last, where a task was worked on twice.
    """
    cases = (Case.of(event) for event in events if event.what == ROUTED)
    wanted = (item for item in cases if single is None or item.single.name == single)
    return tuple({item.task: item for item in wanted}.values())
