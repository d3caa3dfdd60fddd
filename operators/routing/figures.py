"""What a router is worth: cross-validated, with both constants and the oracle beside it.

Everything about it is decided without the cases that it is scored on, its complexity too. The
oracle takes the better side of each case after the fact. Nobody can have that: it profits from the
luck of single answers, and does so where features tell nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ...pool.values.intervals import Interval, mean_interval, paired_interval
from ...runtime.values.terminal import counted, with_interval
from ...schema.values.codec import kept, to_value
from .cases import Case, CaseSpending, Choice
from .decisions import Always, Decision, asks
from .fitting import FOLDS, Router, fit, out_of_fold, worth
from .learners import By


@kept()
class Arm:
    """How cases go where somebody decides who works on each.

    Attributes:
        interval: Its 95 % interval.
        worth: The mean score less `beta` times the cost, that of deciding included.
        spent: What all cases took together, deciding included.
        team: How many of them the team worked on.
    """

    score: float
    interval: Interval
    worth: float
    spent: CaseSpending
    team: int


@kept()
class RoutingGain:
    """What one way to decide is worth more than another, on the same cases.

    Attributes:
        worth: By how much, on the mean.
        interval: Its 95 % interval.
        spent: What it takes more, over all cases; less than 0 is saved.
    """

    worth: float
    interval: Interval
    spent: CaseSpending


@dataclass(frozen=True, kw_only=True, slots=True)
class RouterFigures:
    """A router's figures.

    Attributes:
        folds: Into how many parts they were dealt.
        arms: `single` and `team` for every case, the `router`, and the `oracle`.
        over: What the router is worth more than `single` and `team`.
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
        """Write them for people."""
        head = f"router, cross-validated in {self.folds} folds of {counted(self.n, 'train case')}"
        lines = [f"{head}:", f"{'':<8} score [95 %]           worth   team    calls     tokens"]
        lines += [_row(name, arm) for name, arm in self.arms.items()]
        lines += [_gained(name, gain) for name, gain in self.over.items()]
        note = "the oracle takes the better of both after the fact: nobody can have it"
        return "\n".join([*lines, note, f"fitted to all of them: {self.router}"])


@dataclass(frozen=True, kw_only=True, slots=True)
class _RoutedCase:
    """Who worked on a case, and what that was worth and took."""

    choice: Choice
    score: float
    worth: float
    spent: CaseSpending


def figures(
    cases: Sequence[Case], *, by: By = "rule", folds: int = FOLDS, beta: float = 0
) -> RouterFigures | None:
    """Cross-validate a router: it is fitted anew without each fold, and scored on that.

    Args:
        cases: Cases of a train split, each task once.
        folds: Into how many parts cases are dealt, at least 2.

    Returns:
        None where there are fewer than two cases, none of which could be held out.

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
    """Give each of at least two cases with the decision of a router that does not know its fold."""

    def refitted(rest: Sequence[Case]) -> Decision:
        return fit(rest, by=by, folds=folds, beta=beta).decision

    return out_of_fold(cases, refitted, folds)


def figures_of(
    routed: Sequence[tuple[Case, Decision]], router: Router, *, folds: int, beta: float
) -> RouterFigures:
    """Sum up what the routers of the folds decided.

    Args:
        routed: What `decided` gives.
        router: The router that is fitted to all cases.
        folds: Into how many parts they were dealt.
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
    """Take the better side; of two that are alike, the one with fewer calls."""
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
    """Return the interval of a mean of differences, which costs may have taken beyond [-1, 1]."""
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
