"""Equal teams: `python -m studies.null` prints how often a comparison tells them apart.

Both teams have the same chance on each task, so whatever a test finds is chance. It may be found in
one of twenty comparisons. Exact tests of few tasks find it less often, as their p-values come in
few sizes.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.comparison.comparing import TESTS, Comparison
from coterie.benchmarks.comparison.tables import written
from coterie.benchmarks.evaluation.statistics import holm
from coterie.schema.command import Command

from .intervals import LEAST, MOST, World

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.05
SIZES = ((3, 1), (3, 3), (5, 1), (5, 3), (10, 1), (10, 5), (20, 3), (50, 1), (100, 3), (300, 1))
TEAMS = 6


def errors(world: World, *, times: int, seed: int = 0) -> dict[str, float]:
    """Count how often each test of `mas-bench compare` tells equal teams apart.

    Args:
        world: How evaluations come out.
        times: How many pairs of evaluations are compared.
        seed: Makes it repeatable.

    Returns:
        The share of comparisons with a p-value below 0.05, by test; under `decides`, that of the
        test that decides; under `interval`, of intervals of the difference without 0.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    fields: dict[str, int] = dict.fromkeys((*TESTS, "decides", "interval"), 0)
    for number in range(times):
        values, other = _teams(world, 2, (number + 0.5) / times, chance)
        report = _compared(world, values, other).value()
        low, high = report["interval"]
        ps = {**report["p"], "decides": report["p"][report["decides"]]}
        for test, p in ps.items():
            fields[test] += p is not None and p < LEVEL
        fields["interval"] += not low <= 0 <= high
    return {test: count / times for test, count in fields.items()}


def family_error(world: World, *, times: int, seed: int = 0) -> float:
    """Count how often one of several equal teams seems to differ from the first, after Holm."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    wrong = 0
    for number in range(times):
        first, *others = _teams(world, TEAMS, (number + 0.5) / times, chance)
        comparisons = [_compared(world, first, other) for other in others]
        ps = [comparison.tests()[comparison.deciding] for comparison in comparisons]
        wrong += any(p < LEVEL for p in holm([p for p in ps if p is not None]))
    return wrong / times


def _teams(world: World, count: int, at: float, chance: random.Random) -> list[list[float]]:
    """Return the scores of several teams on the same tasks: the mean over each one's trials."""
    means = world.tasks_of(LEAST + at * (MOST - LEAST), chance)
    return [
        [sum(trials) / len(trials) for trials in world.tried(means, chance)] for _ in range(count)
    ]


def _compared(world: World, values: Sequence[float], other: Sequence[float]) -> Comparison:
    return Comparison(
        names=("one", "other"),
        before=values,
        after=other,
        single=world.trials == 1,
        left_out=0,
        costs=("", ""),
    )


@click.command("null", cls=Command)
@click.option("--times", default=2_000, show_default=True, help="Comparisons for each row.")
@click.option("--families", default=300, show_default=True, help="Comparisons of several teams.")
def main(times: int, families: int) -> None:
    """Print how often equal teams seem to differ, as a table in Markdown."""
    rows: list[dict[str, str]] = []
    for kind in ("binary", "graded"):
        for tasks, trials in SIZES:
            world = World(tasks=tasks, trials=trials, alike=0.3, kind=kind)
            fields = errors(world, times=times)
            rows.append(
                {
                    "tasks": str(tasks),
                    "trials": str(trials),
                    "scores": kind,
                    **{test: f"{share:.3f}" for test, share in fields.items()},
                    f"{TEAMS} teams, Holm": f"{family_error(world, times=families):.3f}",
                }
            )
    click.echo(written(rows, "markdown"))


if __name__ == "__main__":
    main()
