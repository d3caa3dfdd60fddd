"""What intervals cover: `python -m studies.intervals` prints the table of the docs.

Evaluations are made up whose truth is known, and each 95 % interval either holds the truth or does
not. Right or wrong answers to few tasks can come out in few ways, so at a single truth any interval
covers more or less than it claims, in jumps. The share is therefore told over truths drawn evenly
from 0.02 to 0.98, and beside it that of the worst tenth of this range.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.comparison.tables import written
from coterie.benchmarks.evaluation.benchmark import mean_score
from coterie.pool.values.intervals import figure_interval
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coterie.pool.values.intervals import Interval

    Trials = Mapping[str, Sequence[Sequence[float]]]

LEAST, MOST = 0.02, 0.98
PARTS = 10
RESAMPLES = 300

SIZES = (
    *((3, 1), (3, 3), (3, 5), (4, 3), (5, 1), (5, 3), (10, 1), (10, 3), (10, 5), (20, 1)),
    *((20, 3), (50, 1), (50, 5), (100, 3), (200, 1), (500, 1), (500, 5)),
)
NICHES = ((4, 1), (8, 1), (20, 1), (20, 2), (8, 5), (3, 50), (23, 20))


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """How evaluations come out.

    Attributes:
        tasks: How many there are in each niche.
        trials: How often each is tried.
        niches: How many niches there are.
        alike: How alike a task's trials are, in [0, 1]: the share of the variance of single
            right or wrong trials that lies between tasks. At 0 tasks are equally hard, at 1 each
            is always right or always wrong.
        apart: How far niches are apart, in the same way.
        kind: `binary`: right or wrong; `thirds`: the share of three checks that pass; `graded`:
            anything between, by a beta distribution of concentration 4.
    """

    tasks: int
    trials: int
    niches: int = 1
    alike: float = 0.0
    apart: float = 0.0
    kind: str = "binary"

    def evaluation(self, truth: float, chance: random.Random) -> tuple[Trials, dict[str, float]]:
        """Return an evaluation, and the truth of each niche."""
        truths = {
            str(number): _spread_around(truth, self.apart, chance) for number in range(self.niches)
        }
        scores = {
            niche: self.tried(self.tasks_of(mean, chance), chance) for niche, mean in truths.items()
        }
        return scores, truths

    def tasks_of(self, truth: float, chance: random.Random) -> list[float]:
        """Draw the chance of each task of a niche with this truth."""
        return [_spread_around(truth, self.alike, chance) for _ in range(self.tasks)]

    def tried(self, means: Sequence[float], chance: random.Random) -> list[list[float]]:
        """Try tasks, each with this chance."""
        return [[_score(mean, self.kind, chance) for _ in range(self.trials)] for mean in means]


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """How often intervals held the truth.

    Attributes:
        mean: Over all truths.
        worst: Over those of the worst tenth of the range of truths.
        width: How wide intervals were, on the mean.
    """

    mean: float
    worst: float
    width: float


def coverage(
    world: World,
    interval: Callable[[Trials], Interval] = figure_interval,
    *,
    times: int,
    seed: int = 0,
) -> Coverage:
    """Measure what an interval of the mean over tasks covers.

    Args:
        world: How evaluations come out.
        interval: Gives the interval of an evaluation.
        times: How many evaluations are made up; truths are spread evenly over the range.
        seed: Makes it repeatable.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    held: list[list[bool]] = [[] for _ in range(PARTS)]
    width = 0.0
    for number in range(times):
        at = (number + chance.random()) / times
        scores, truths = world.evaluation(LEAST + at * (MOST - LEAST), chance)
        truth = sum(truths.values()) / len(truths)
        low, high = interval(scores)
        held[min(PARTS - 1, int(at * PARTS))].append(low <= truth <= high)
        width += high - low
    return Coverage(
        mean=sum(map(sum, held)) / times,
        worst=min(sum(part) / len(part) for part in held if part),
        width=width / times,
    )


def bootstrap(niches: Trials, *, seed: int = 0) -> Interval:
    """Return the percentile interval that results had before: tasks of each niche drawn again.

    It is here for the comparison alone. A niche of one task never varies in it.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    means = {niche: [sum(x) / len(x) for x in tasks] for niche, tasks in niches.items()}
    drawn = sorted(
        mean_score({niche: chance.choices(x, k=len(x)) for niche, x in means.items()})
        for _ in range(RESAMPLES)
    )
    return drawn[int(0.025 * RESAMPLES)], drawn[math.ceil(0.975 * RESAMPLES) - 1]


def _spread_around(mean: float, share: float, chance: random.Random) -> float:
    """Draw a mean around another one, from a beta distribution with this share of the variance."""
    if share <= 0 or not 0 < mean < 1:
        return mean
    if share >= 1:
        return float(chance.random() < mean)
    size = 1 / share - 1
    return chance.betavariate(mean * size, (1 - mean) * size)


def _score(mean: float, kind: str, chance: random.Random) -> float:
    if kind == "binary":
        return float(chance.random() < mean)
    if kind == "thirds":
        return sum(chance.random() < mean for _ in range(3)) / 3
    return _spread_around(mean, 0.2, chance)


def _row(world: World, times: int, compared: int) -> dict[str, str]:
    now = coverage(world, times=times)
    before = coverage(world, bootstrap, times=compared)
    return {
        "niches": str(world.niches),
        "tasks each": str(world.tasks),
        "trials": str(world.trials),
        "scores": world.kind,
        "tasks vary": f"{world.alike:g}",
        "niches vary": f"{world.apart:g}",
        "coverage": f"{now.mean:.3f}",
        "worst tenth": f"{now.worst:.3f}",
        "width": f"{now.width:.3f}",
        "bootstrap": f"{before.mean:.3f}",
    }


def _worlds() -> list[World]:
    worlds = [
        World(tasks=tasks, trials=trials, alike=alike, kind=kind)
        for kind in ("binary", "thirds", "graded")
        for tasks, trials in SIZES
        for alike in (0.0, 0.3, 1.0)
        if not (kind == "binary" and trials == 1 and alike) and (kind == "binary" or alike < 1)
    ]
    several = [
        World(tasks=tasks, trials=trials, niches=niches, alike=alike, apart=apart)
        for niches, tasks in NICHES
        for apart in (0.0, 0.2)
        for trials, alike in ((1, 0.0), (3, 0.3))
    ]
    return [*worlds, *several]


@click.command("intervals", cls=Command)
@click.option("--times", default=4_000, show_default=True, help="Evaluations made up for a row.")
@click.option(
    "--compared", default=200, show_default=True, help="Those on which the bootstrap is tried."
)
def main(times: int, compared: int) -> None:
    """Print what 95 % intervals cover, by size, as a table in Markdown."""
    rows = [_row(world, times, compared) for world in _worlds()]
    click.echo(written(rows, "markdown"))


if __name__ == "__main__":
    main()
