"""Routers where the truth is known: `python -m studies.routing` prints the docs' table.

Cases are made up on which a single agent and a team are right with known odds. In one kind of
world the odds are equal whatever a case looks like, in one the team is better everywhere, and in
one a feature decides who is better; five more features say nothing. A router's cross-validated
gain has an interval, which either holds the truth or does not: what the decisions of its folds are
worth on new cases.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.comparison.tables import written
from coterie.operators.routing import Case, RoutingOutcome, fit
from coterie.operators.routing.figures import decided, figures_of
from coterie.pool.values.statistics import wilson
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coterie.operators.routing import By, Decision, Features, RouterFigures

    NewCases = Sequence[tuple[Features, float]]

DECIDING = "words"
MIDDLE = 100.0
"""The deciding feature is as often above as below."""
NEW_CASES = 400
FOLDS = 5
SIZES = (30, 60, 120, 240)


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """How cases come out.

    Attributes:
        name: What it is called in the table.
        edge: How much more often the team is right than the single agent, over all cases.
        decides: How much more often whoever is better is right, which the feature tells.
    """

    name: str
    edge: float = 0.0
    decides: float = 0.0

    def odds(self, features: Features) -> tuple[float, float]:
        """Return how often the single agent and the team are right on such a case."""
        value = self.decides if features[DECIDING] > MIDDLE else -self.decides
        return 0.5 - (self.edge + value) / 2, 0.5 + (self.edge + value) / 2

    def cases(self, number: int, chance: random.Random) -> list[Case]:
        """Draw cases, each worked on once by both."""
        return [self._case(str(place), chance) for place in range(number)]

    def _case(self, task: str, chance: random.Random) -> Case:
        features = _features(chance)
        single, team = (
            RoutingOutcome(score=float(chance.random() < odds)) for odds in self.odds(features)
        )
        return Case(task=task, features=features, single=single, team=team)

    def new_cases(self, chance: random.Random) -> NewCases:
        """Draw cases, each with what the team is worth more on it, in truth."""
        drawn = [_features(chance) for _ in range(NEW_CASES)]
        return [(item, team - single) for item in drawn for single, team in [self.odds(item)]]


WORLDS = (
    World(name="alike"),
    World(name="the team is better", edge=0.15),
    World(name="a feature decides", decides=0.3),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The result of one draw of cases.

    Attributes:
        constant: Whether the router that is fitted to all cases is a constant.
        found: Whether it goes by the feature that decides.
        told: The cross-validated gain over always the single agent, and over always the team.
        truth: What these are on new cases, for the decisions of the folds.
        holds: Whether the interval of each holds that truth.
        oracle: What the oracle seems to be worth more than the better constant.
    """

    constant: bool
    found: bool
    told: tuple[float, float]
    truth: tuple[float, float]
    holds: tuple[bool, bool]
    oracle: float


def simulate(
    world: World, number: int, *, by: By = "rule", times: int, seed: int = 0
) -> list[Found]:
    """Fit routers in a world, again and again.

    Args:
        world: How cases come out.
        number: How many cases a router is fitted to.
        by: What fits it.
        times: How often.
        seed: Makes it repeatable.
    """
    chance = random.Random(f"{seed} {world.name} {number}")  # noqa: S311 - not for secrets
    new = world.new_cases(chance)
    return [_found(world.cases(number, chance), new, by) for _ in range(times)]


def _found(cases: Sequence[Case], new: NewCases, by: By) -> Found:
    folds = decided(cases, by=by, folds=FOLDS)
    report = figures_of(folds, fit(cases, by=by, folds=FOLDS), folds=FOLDS, beta=0)
    known: dict[int, float] = {}
    for _, decision in folds:
        if id(decision) not in known:
            known[id(decision)] = _gain(decision, new)
    over_single = fmean(known[id(decision)] for _, decision in folds)
    truth = over_single, over_single - fmean(gain for _, gain in new)
    return Found(
        constant=report.router.level == 0,
        found=DECIDING in report.router.decision.features,
        told=(report.over["single"].worth, report.over["team"].worth),
        truth=truth,
        holds=(_holds(report, "single", truth[0]), _holds(report, "team", truth[1])),
        oracle=report.arms["oracle"].worth
        - max(report.arms["single"].worth, report.arms["team"].worth),
    )


def _gain(decision: Decision, new: NewCases) -> float:
    """Return what a decision is worth more than the single agent, in truth."""
    return sum(gain for item, gain in new if decision.choose(item) == "team") / len(new)


def _holds(figures: RouterFigures, name: str, truth: float) -> bool:
    low, high = figures.over[name].interval
    return low <= truth <= high


def _features(chance: random.Random) -> Features:
    return {
        DECIDING: float(chance.randint(1, int(2 * MIDDLE))),
        "lines": float(chance.randint(1, 20)),
        "items": float(chance.randint(0, 9)),
        "numbers": float(chance.randint(0, 12)),
        "complexity": chance.randint(0, 10) / 10,
        "divergence": chance.randint(0, 10) / 10,
    }


def _row(world: World, number: int, by: By, result: Sequence[Found]) -> dict[str, str]:
    def mean(read: Callable[[Found], float]) -> float:
        return fmean(map(read, result))

    def share(read: Callable[[Found], bool]) -> str:
        total = sum(map(read, result))
        low, high = wilson(total, len(result))
        return f"{total / len(result):.3f} [{low:.3f}, {high:.3f}]"

    return {
        "world": world.name,
        "cases": str(number),
        "by": by,
        "a constant": f"{mean(lambda item: item.constant):.3f}",
        "goes by the feature": f"{mean(lambda item: item.found):.3f}",
        "gain over single": f"{mean(lambda item: item.told[0]):+.3f}",
        "in truth": f"{mean(lambda item: item.truth[0]):+.3f}",
        "interval holds it": share(lambda item: item.holds[0]),
        "over team": f"{mean(lambda item: item.told[1]):+.3f}",
        "truth over team": f"{mean(lambda item: item.truth[1]):+.3f}",
        "holds that": share(lambda item: item.holds[1]),
        "oracle seems": f"{mean(lambda item: item.oracle):+.3f}",
    }


@click.command("routing", cls=Command)
@click.option("--times", default=400, show_default=True, help="Routers fitted for each row.")
@click.option("--cases", multiple=True, type=int, help="Only rows of so many cases; repeatable.")
@click.option("--logistic", is_flag=True, help="Rows of the logistic regression instead of rules.")
def main(times: int, cases: Sequence[int], logistic: bool) -> None:
    """Print what routers find and what their intervals hold, as a table in Markdown."""
    by: By = "logistic" if logistic else "rule"
    sizes = cases or (SIZES[1:3] if logistic else SIZES)
    rows = [
        _row(world, number, by, simulate(world, number, by=by, times=times))
        for world in WORLDS
        for number in sizes
    ]
    click.echo(written(rows, "markdown"))


if __name__ == "__main__":
    main()
