"""Measures what candidate edits are worth on a stream: chosen on one split, tested on the other.

    python -m studies.headroom sentiment --evolve 20 --test 40

Each candidate edit makes a child of the team `solo`. All of them run on the evolve split; the best
by its score there, and the seed, run on the test split, of which nothing was seen before.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import click

from coterie.benchmarks import streams
from coterie.benchmarks.evaluation.statistics import mcnemar
from coterie.benchmarks.streams.tasks import STREAMS, stream
from coterie.pool.values.intervals import paired_interval, wilson
from coterie.schema.command import Command, host_catalogue, host_options, problem_format

from .candidates import CANDIDATES
from .trials import Trials, adopt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.schema.team.task import Task

SEED = "solo"


@dataclass(frozen=True, kw_only=True, slots=True)
class Splits:
    """The tasks of a stream: those to choose on, and those to test on."""

    evolve: Sequence[Task]
    test: Sequence[Task]


@click.command(cls=Command)
@click.argument("name", type=click.Choice(list(STREAMS)))
@click.option("--evolve", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--test", type=click.IntRange(min=1), default=40, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks.")
@click.option(
    "--pool",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where candidates and trials are kept; what is there is not run again.  [default: a new"
    " temporary folder]",
)
@host_options
@problem_format
def main(name: str, evolve: int, test: int, seed: int, folder: Path | None, **host: Any) -> None:
    """Choose the best of the candidate edits of the stream NAME, and test it on held-out tasks."""
    from coterie.pool.teams.pool import Pool
    from coterie.runtime.command.loading import fetch_embedded
    from coterie.runtime.runs.services import Setting, open_services

    host.pop("problem_format", None)
    known = host_catalogue(**host)
    fetch_embedded(known.models.values())
    where = folder or Path(mkdtemp(prefix=f"headroom-{name}-"))
    pool = Pool.init(where, [Path(streams.__file__).with_name(f"{SEED}.yaml")], catalogue=known)
    splits = Splits(
        evolve=stream(name, "evolve", count=evolve, seed=seed),
        test=stream(name, "test", count=test, seed=seed),
    )

    async def measure() -> None:
        async with open_services(known, Setting(seed=seed)) as services:
            await _measure(Trials(pool=pool, services=services), name, splits)

    asyncio.run(measure())
    click.echo(f"\nThe pool: {where}")


async def _measure(trials: Trials, name: str, splits: Splits) -> None:
    teams = [SEED, *adopt(trials.pool, SEED, CANDIDATES[name])]
    chosen = await _best(trials, teams, splits.evolve)
    before = await trials.scores(SEED, splits.test, "test")
    after = await trials.scores(chosen, splits.test, "test")
    click.echo(f"\n| held out: {len(before)} {name} tasks | right | accuracy | 95 % interval |")
    click.echo("|---|---|---|---|")
    click.echo(_row(f"{SEED}, the seed", before))
    click.echo(_row(f"{chosen}, the best on the evolve split", after))
    gains = [new - old for old, new in zip(before, after, strict=True)]
    low, high = paired_interval(gains)
    gain = sum(gains) / len(gains)
    click.echo(f"\nDifference on the held-out tasks: {gain:+.2f} [{low:.2f}, {high:.2f}].")
    click.echo(f"McNemar's exact test, two-sided: p = {mcnemar(before, after):.2g}")


async def _best(trials: Trials, teams: Sequence[str], tasks: Sequence[Task]) -> str:
    """Run teams on the evolve split and choose the best; among equals the first."""
    click.echo(f"| evolve split: {len(tasks)} tasks | right | accuracy | 95 % interval |")
    click.echo("|---|---|---|---|")
    sums: dict[str, float] = {}
    for name in teams:
        scores = await trials.scores(name, tasks, "evolve")
        sums[name] = sum(scores)
        click.echo(_row(name, scores))
    return max(sums, key=lambda name: sums[name])


def _row(label: str, scores: Sequence[float]) -> str:
    low, high = wilson(sum(scores), len(scores))
    mean = sum(scores) / len(scores)
    return f"| {label} | {sum(scores):g} | {mean:.2f} | {low:.2f} to {high:.2f} |"


if __name__ == "__main__":
    main()
