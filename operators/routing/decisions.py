"""Decisions: who works on a case, by its features. Each kind can be stated in a sentence."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Protocol

from ...schema.values.codec import Form, stored
from .cases import Choice
from .features import GAUGED, Features


class Decision(Protocol):
    """A decision who works on a case. It **must** depend only on the features."""

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it uses."""
        ...

    def choose(self, features: Features, /) -> Choice:
        """Choose for a case, even if some of its features are unknown."""
        ...


def asks(decision: Decision) -> bool:
    """Return whether a decision uses features that need a model call."""
    return not set(GAUGED).isdisjoint(decision.features)


@stored()
class Always:
    """The same choice for every case."""

    choice: Annotated[Choice, Form(key="always")]

    @property
    def features(self) -> tuple[str, ...]:
        """It uses no features."""
        return ()

    def choose(self, _features: Features, /) -> Choice:
        """See `Decision`."""
        return self.choice

    def __str__(self) -> str:
        return f"always the {_called(self.choice)}"


@stored()
class Condition:
    """A feature on one side of a threshold.

    Attributes:
        threshold: The threshold.
        above: True: it holds above the threshold. False: it holds at or below it.
    """

    feature: str
    threshold: float
    above: bool

    def holds(self, features: Features) -> bool:
        """Return whether it holds; the feature must be known."""
        return (features[self.feature] > self.threshold) == self.above

    def __str__(self) -> str:
        return f"{self.feature} {'>' if self.above else '<='} {self.threshold:.4g}"


@stored()
class Rule:
    """The team if conditions hold, else the single agent.

    Attributes:
        joined: Whether all conditions must hold, or any of them.
        unknown: The choice for a case with unknown features.
    """

    conditions: Annotated[tuple[Condition, ...], Form(key="team_where")]
    joined: Literal["all", "any"] = "all"
    unknown: Choice = "team"

    @property
    def features(self) -> tuple[str, ...]:
        """See `Decision`."""
        return tuple(dict.fromkeys(condition.feature for condition in self.conditions))

    def choose(self, features: Features, /) -> Choice:
        """See `Decision`."""
        if any(name not in features for name in self.features):
            return self.unknown
        hold = [condition.holds(features) for condition in self.conditions]
        return "team" if (all(hold) if self.joined == "all" else any(hold)) else "single"

    def __str__(self) -> str:
        word = " and " if self.joined == "all" else " or "
        return f"the team where {word.join(map(str, self.conditions))}; else the single agent"


@stored()
class Linear:
    """The team if the weighted sum of features is above 0: a fitted logistic regression.

    Attributes:
        weights: The weight of each feature, in units of its standard deviation.
        middles: The mean of each feature, which also replaces an unknown value.
        spreads: The standard deviation of each feature; never 0.
    """

    weights: Features
    middles: Features
    spreads: Features
    bias: float

    @property
    def features(self) -> tuple[str, ...]:
        """See `Decision`."""
        return tuple(self.weights)

    def choose(self, features: Features, /) -> Choice:
        """See `Decision`."""
        total = self.bias + math.fsum(
            weight * (features.get(name, self.middles[name]) - self.middles[name])
            / self.spreads[name]
            for name, weight in self.weights.items()
        )  # fmt: skip
        return "team" if total > 0 else "single"

    def __str__(self) -> str:
        heaviest = sorted(self.weights.items(), key=lambda pair: -abs(pair[1]))
        text = ", ".join(f"{name} {weight:+.2f}" for name, weight in heaviest)
        return f"the team by the weights {text}, bias {self.bias:+.2f}"


def _called(choice: Choice) -> str:
    return "single agent" if choice == "single" else "team"
