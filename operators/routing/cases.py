"""Training cases of a router: tasks on which both the single agent and the team worked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ...pool.ledger.changes import EventNoted
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value, stored, to_value
from .features import Features

Choice = Literal["single", "team"]
"""Who works on a case."""
ROUTED = "routed"
"""The name of a pool's event that records a case."""


@stored()
class CaseSpending:
    """A usage with its cost.

    Attributes:
        cost: The cost in the recipe's unit.
    """

    cost: float = 0.0
    calls: int = 0
    tokens: int = 0

    @classmethod
    def of(cls, usage: Usage, cost: float) -> CaseSpending:
        """Return the spending of model calls."""
        return cls(cost=cost, calls=usage.calls, tokens=usage.tokens)

    def __add__(self, other: CaseSpending) -> CaseSpending:
        return CaseSpending(
            cost=self.cost + other.cost,
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
        )


@stored()
class RoutingOutcome:
    """The result of a case with the single agent, or with the team.

    Attributes:
        score: The score of the answer, in [0, 1].
        name: The pool's name of the team that worked on it.
    """

    name: str = ""
    score: float
    spent: CaseSpending = CaseSpending()

    def worth(self, beta: float) -> float:
        """Return the score minus `beta` times the cost, like a reward (EvoMAS Eq. 4)."""
        return self.score - beta * self.spent.cost


@stored()
class Case:
    """A case with the results of both.

    Attributes:
        features: Its features; unknown ones are left out.
        gauging: The spending on features that a model judged.
    """

    task: str
    features: Features
    single: RoutingOutcome
    team: RoutingOutcome
    gauging: CaseSpending = CaseSpending()

    def side(self, choice: Choice) -> RoutingOutcome:
        """Return the result of a choice."""
        return self.single if choice == "single" else self.team

    def event(self) -> EventNoted:
        """Return it as an event of a pool."""
        return EventNoted(what=ROUTED, about=to_value(self))

    @classmethod
    def of(cls, event: EventNoted) -> Case:
        """Read a case from an event."""
        return from_value(cls, event.about)


def cases_of(events: Iterable[EventNoted], *, single: str | None = None) -> tuple[Case, ...]:
    """Return the cases among a pool's events.

    Args:
        single: The pool's name of the single agent; cases of other agents are left out. None: all.

    Returns:
        One case for each task; the last one, if a task has several.
    """
    cases = (Case.of(event) for event in events if event.what == ROUTED)
    wanted = (item for item in cases if single is None or item.single.name == single)
    return tuple({item.task: item for item in wanted}.values())
