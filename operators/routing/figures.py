"""The worth of a router: cross-validated, next to both constants and the oracle.

Everything about the router, including its complexity, is decided without the cases that it is
scored on. The oracle takes the better side of each case after the fact. No router can reach it: it
profits from the luck of single answers, even if features carry no information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ...pool.values.intervals import Interval, mean_interval, paired_interval
from ...schema.values.codec import stored, to_value
from ...schema.values.terminal import counted, with_interval
from .cases import Case, CaseSpending, Choice
from .decisions import Always, Decision, asks
from .fitting import FOLDS, Router, fit, out_of_fold, worth
from .learners import By


@stored()
class Arm:
    """The results of all cases under one way of deciding.

    Attributes:
        interval: The 95 % interval of the score.
        worth: The mean score minus `beta` times the cost, including the cost of deciding.
        spent: The total spending on all cases, including that of deciding.
        team: The number of cases that the team worked on.
    """

    score: float
    interval: Interval
    worth: float
    spent: CaseSpending
    team: int


@stored()
class RoutingGain:
    """The gain of one way of deciding over another, on the same cases.

    Attributes:
        worth: The mean gain in worth.
        interval: Its 95 % interval.
        spent: The additional spending over all cases; negative if it saves.
    """

    worth: float
    interval: Interval
    spent: CaseSpending


@dataclass(frozen=True, kw_only=True, slots=True)
class RouterFigures:
    """A router's figures.

    Attributes:
        folds: The number of folds.
        arms: `single` and `team` for every case, the `router`, and the `oracle`.
        over: The gains of the router over `single` and `team`.
    """

    n: int
    folds: int
    beta: float
    arms: dict[str, Arm]
    over: dict[str, RoutingGain]
    router: Router

    def value(self) -> dict[str, Any]:
        """Return them as a JSON object."""
        return {
            "n": self.n,
            "folds": self.folds,
            "beta": self.beta,
            **{name: to_value(arm) for name, arm in self.arms.items()},
            "over": {name: to_value(gain) for name, gain in self.over.items()},
            "router": {**to_value(self.router), "says": str(self.router)},
        }

    def __str__(self) -> str:
        """Return them as text for people."""
        head = f"router, cross-validated in {self.folds} folds of {counted(self.n, 'train case')}"
        lines = [f"{head}:", f"{'':<8} score [95 %]           worth   team    calls     tokens"]
        lines += [_row(name, arm) for name, arm in self.arms.items()]
        lines += [_gained(name, gain) for name, gain in self.over.items()]
        note = "the oracle takes the better of both after the fact: nobody can have it"
        return "\n".join([*lines, note, f"fitted to all of them: {self.router}"])


@dataclass(frozen=True, kw_only=True, slots=True)
class _RoutedCase:
    choice: Choice
    score: float
    worth: float
    spent: CaseSpending


def figures(
    cases: Sequence[Case], *, by: By = "rule", folds: int = FOLDS, beta: float = 0
) -> RouterFigures | None:
    """Cross-validate a router: fit it without each fold, and score it on that fold.

    Args:
        cases: Cases of a train split, each task once.
        folds: The number of folds, at least 2.

    Returns:
        None for fewer than two cases, of which none can be held out.

    Raises:
        InputError: The learner is not installed.
    """
    if len(cases) < 2:
        return None

    routed = decided(cases, by=by, folds=folds, beta=beta)
    return figures_of(routed, fit(cases, by=by, folds=folds, beta=beta), folds=folds, beta=beta)


def decided(
    cases: Sequence[Case], *, by: By = "rule", folds: int = FOLDS, beta: float = 0
) -> list[tuple[Case, Decision]]:
    """Return each of at least two cases with the decision of a router fitted without its fold."""

    def refitted(rest: Sequence[Case]) -> Decision:
        return fit(rest, by=by, folds=folds, beta=beta).decision

    return out_of_fold(cases, refitted, folds)


def figures_of(
    routed: Sequence[tuple[Case, Decision]], router: Router, *, folds: int, beta: float
) -> RouterFigures:
    """Return the figures of the folds' routers.

    Args:
        routed: The result of `decided`.
    """
    ordered = [case for case, _ in routed]
    by_router = {
        "single": [_always("single", case, beta) for case in ordered],
        "team": [_always("team", case, beta) for case in ordered],
        "router": [_ran(case, decision, beta) for case, decision in routed],
        "oracle": [_best(case, beta) for case in ordered],
    }
    return RouterFigures(
        n=len(ordered),
        folds=min(folds, len(ordered)),
        beta=beta,
        arms={name: _arm(those) for name, those in by_router.items()},
        over={name: _gain(by_router["router"], by_router[name]) for name in ("single", "team")},
        router=router,
    )


def _ran(case: Case, decision: Decision, beta: float) -> _RoutedCase:
    choice = decision.choose(case.features)
    side = case.side(choice)
    spent = side.spent + case.gauging if asks(decision) else side.spent
    gained = worth(case, decision, beta)
    return _RoutedCase(choice=choice, score=side.score, worth=gained, spent=spent)


def _always(choice: Choice, case: Case, beta: float) -> _RoutedCase:
    return _ran(case, Always(choice=choice), beta)


def _best(case: Case, beta: float) -> _RoutedCase:
    """Return the better side; on a tie, the one with fewer calls."""
    sides = [_always("single", case, beta), _always("team", case, beta)]
    return max(sides, key=lambda item: (item.worth, -item.spent.calls))


def _arm(cases: Sequence[_RoutedCase]) -> Arm:
    return Arm(
        score=fmean(item.score for item in cases),
        interval=mean_interval([[item.score] for item in cases]),
        worth=fmean(item.worth for item in cases),
        spent=sum((item.spent for item in cases), CaseSpending()),
        team=sum(item.choice == "team" for item in cases),
    )


def _gain(routed: Sequence[_RoutedCase], baseline: Sequence[_RoutedCase]) -> RoutingGain:
    gains = [item.worth - two.worth for item, two in zip(routed, baseline, strict=True)]
    spent = [sum((item.spent for item in items), CaseSpending()) for items in (routed, baseline)]
    return RoutingGain(
        worth=fmean(gains),
        interval=_interval(gains),
        spent=CaseSpending(
            cost=spent[0].cost - spent[1].cost,
            calls=spent[0].calls - spent[1].calls,
            tokens=spent[0].tokens - spent[1].tokens,
        ),
    )


def _interval(gains: Sequence[float]) -> Interval:
    """Return the interval of a mean of differences, which costs may move outside [-1, 1]."""
    largest = max(1.0, *map(abs, gains))
    low, high = paired_interval([gain / largest for gain in gains])
    return low * largest, high * largest


def _row(name: str, arm: Arm) -> str:
    return (
        f"{name:<8} {with_interval(arm.score, arm.interval)} {arm.worth:>8.3f} {arm.team:>6}"
        f" {arm.spent.calls:>8} {arm.spent.tokens:>10}"
    )


def _gained(name: str, gain: RoutingGain) -> str:
    calls, tokens = gain.spent.calls, gain.spent.tokens
    return (
        f"router less always {name}: {with_interval(gain.worth, gain.interval, '+')},"
        f" {_more(calls, 'call')} and {_more(tokens, 'token')}"
    )


def _more(number: int, noun: str) -> str:
    return f"{counted(abs(number), noun)} {'less' if number < 0 else 'more'}"
