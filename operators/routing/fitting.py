"""A router: a decision as simple as the cases allow, fitted to them (MATTRL §5.2).

Its complexity is chosen by cross-validation on the same cases: the simplest level within one
standard error of the best. Levels are compared on the same cases, so the error is that of their
difference. If nothing beats a constant, the router is that constant.
"""

from __future__ import annotations

import hashlib
import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Annotated

from ...schema.values.codec import Form, stored, to_value
from ...schema.values.terminal import counted
from .decisions import Always, Decision, asks
from .learners import LEARNERS, By

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .cases import Case, Choice
    from .features import Features
    from .learners import Fit

    Fitted = Callable[[Sequence[Case]], Decision]

FOLDS = 5
FEWEST = 10
"""The fewest cases for which features are used; with fewer, the better constant is taken."""


@stored()
class Router:
    """A fitted decision who works on a case.

    Attributes:
        level: Its complexity; 0 is a constant.
    """

    by: By
    n: int
    level: int
    decision: Annotated[Decision, Form(write=to_value)]

    @property
    def asks(self) -> bool:
        """Whether deciding needs a model call."""
        return asks(self.decision)

    def choose(self, features: Features) -> Choice:
        """Choose for a case, even if some of its features are unknown."""
        return self.decision.choose(features)

    def __str__(self) -> str:
        """Return the decision in words, with the reason if it is only a constant."""
        if self.level or self.n == 0:
            return str(self.decision) if self.n else f"{self.decision}: there are no cases yet"
        why = (
            f"{counted(self.n, 'case')} are too few to go by features"
            if self.n < FEWEST
            else f"nothing beats that in cross-validation on {counted(self.n, 'case')}"
        )
        return f"{self.decision}: {why}"


def fit(cases: Sequence[Case], *, by: By = "rule", folds: int = FOLDS, beta: float = 0) -> Router:
    """Fit a router to cases. Without cases, it always chooses the team.

    The result does not depend on the order of cases.

    Args:
        cases: Cases of a train split, each task once.
        folds: The number of folds, at least 2.

    Raises:
        InputError: The learner is not installed.
    """
    if not cases:
        return Router(decision=Always(choice="team"), by=by, n=0, level=0)
    levels = LEARNERS[by]
    cases = sorted(cases, key=_shuffled)
    level = 0 if len(cases) < FEWEST else _level(cases, by, folds, beta)
    decision = levels[level](cases, beta)
    return Router(
        decision=decision,
        by=by,
        n=len(cases),
        level=0 if isinstance(decision, Always) else level,
    )


def _level(cases: Sequence[Case], by: By, folds: int, beta: float) -> int:
    """Return the simplest level within one standard error of the best."""
    worths = [_worths(cases, level, folds, beta) for level in LEARNERS[by]]
    best = max(worths, key=fmean)
    return next(level for level, values in enumerate(worths) if _is_near(best, values))


def _worths(cases: Sequence[Case], level: Fit, folds: int, beta: float) -> list[float]:
    decided = out_of_fold(cases, lambda rest: level(rest, beta), folds)
    return [worth(case, decision, beta) for case, decision in decided]


def _is_near(best: Sequence[float], second: Sequence[float]) -> bool:
    behind = [value - two for value, two in zip(best, second, strict=True)]
    return fmean(behind) <= stdev(behind) / math.sqrt(len(behind))


def worth(case: Case, decision: Decision, beta: float) -> float:
    """Return the worth of a decision's choice on a case, minus the cost of deciding."""
    price = beta * case.gauging.cost if asks(decision) else 0.0
    return case.side(decision.choose(case.features)).worth(beta) - price


def out_of_fold(cases: Sequence[Case], fitted: Fitted, folds: int) -> list[tuple[Case, Decision]]:
    """Return each case with the decision that was fitted to all other folds.

    Cases are assigned to folds by digests of their tasks: at random, but always in the same way.

    Args:
        folds: The number of folds, at least two.
    """
    dealt = sorted(cases, key=_shuffled)
    most = min(folds, len(dealt))
    pairs: list[tuple[Case, Decision]] = []
    for fold in range(most):
        rest = [item for place, item in enumerate(dealt) if place % most != fold]
        decision = fitted(rest)
        pairs += [(case, decision) for case in dealt[fold::most]]
    return pairs


def _shuffled(case: Case) -> str:
    return hashlib.sha256(case.task.encode()).hexdigest()
