"""The command of a study and the tables that all studies share."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from coterie.schema.command import Command

from ..resumable import by_world, worked
from ..simulated import Interval, apart, head, matching, none_matches, row
from .trials import LEVEL, Job, Outcome, work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .trials import Study

Came = dict[str, dict[int, Outcome]]
"""The outcomes of rows, by their names, by seeds."""


def measured(
    result: Came, measures: Mapping[str, Callable[[Outcome], float | None]], title: str = "row"
) -> Iterator[str]:
    """Print measures of each row, with their intervals over seeds."""
    yield from head(title, *measures)
    for name, outcomes in result.items():
        cells = ([of(outcome) for outcome in outcomes.values()] for of in measures.values())
        known = ([value for value in cell if value is not None] for cell in cells)
        yield row(name, *(Interval(cell).shown(signed=False) for cell in known))


def differences(
    study: Study, result: Came, measures: Mapping[str, Callable[[Outcome], float]]
) -> Iterator[str]:
    """Compare rows with the first one, seed by seed: the same tasks, and the same luck."""
    first = next(iter(result))
    yield from head(f"less {first}", *measures, "in the paper")
    for name in result:
        if name != first:
            cells = (interval.shown() for interval in _less(result, name, measures))
            yield row(name, *cells, study.row(name).paper or "-")


def _less(
    result: Came, name: str, measures: Mapping[str, Callable[[Outcome], float]]
) -> list[Interval]:
    first = result[next(iter(result))]
    return [
        Interval([of(outcome) - of(first[seed]) for seed, outcome in result[name].items()])
        for of in measures.values()
    ]


def covering(result: Came, measures: Mapping[str, Callable[[Outcome], float]]) -> Iterator[str]:
    """Count the intervals that cover 0, where nothing is worth anything."""
    first, *others = result
    yield from head(f"less {first}, cover 0", *measures)
    columns = zip(*(_less(result, name, measures) for name in others), strict=True)
    shown = (f"{sum(item.covers_nothing for item in of)} of {len(of)}" for of in columns)
    yield row("all rows", *shown)


def costs(result: Came, alone: str) -> Iterator[str]:
    """Print what a task costs, and how often a single agent's tokens that is."""
    columns = "calls", "operators' calls", "tokens", "operators' tokens", f"times {alone}"
    yield from head("a task", *columns)
    single = result.get(alone, {})
    for name, outcomes in result.items():
        cells = (
            fmean(
                getattr(outcome, what)[who] / len(outcome.scores) for outcome in outcomes.values()
            )
            for what in ("calls", "tokens")
            for who in ("agents", "operators")
        )
        times = [
            outcome.a_task / single[seed].a_task
            for seed, outcome in outcomes.items()
            if seed in single
        ]
        calls, asked, tokens, spent = cells
        shown = f"{calls:.1f}", f"{asked:.1f}", f"{tokens:.0f}", f"{spent:.0f}"
        yield row(name, *shown, Interval(times).shown(signed=False))


def command(
    study: Study,
    tables: Callable[[Study, Came], Sequence[Iterator[str]]],
    measures: Mapping[str, Callable[[Outcome], float]],
    *,
    seeds: int,
    tasks: int,
    test: int = 0,
) -> click.Command:
    """Return the command that runs a study and prints its page of tables.

    Args:
        study: The study.
        tables: What it prints beside the measures and differences of each kind of world.
        measures: What it compares.
        seeds: How many worlds of each kind, unless an option says otherwise.
        tasks: How many tasks of a stream.
        test: How many tasks of a test.
    """

    def printed(come: Mapping[str, Came]) -> Iterator[str]:
        for kind, result in come.items():
            yield f"\n### {study.kinds[kind]}\n"
            yield from apart(
                measured(result, measures),
                differences(study, result, measures),
                *([covering(result, measures)] if kind == LEVEL else []),
                *tables(study, result),
            )

    @click.command(cls=Command, name=study.name)
    @click.option("--seeds", type=click.IntRange(min=2), default=seeds, show_default=True)
    @click.option("--tasks", type=click.IntRange(min=1), default=tasks, show_default=True)
    @click.option("--test", type=click.IntRange(min=0), default=test, show_default=True)
    @click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
    @click.option("--worlds", multiple=True, default=("*",), help="Only such kinds of worlds.")
    @click.option("--rows", multiple=True, default=("*",), help="Only such rows, as 'no *'.")
    @click.option(
        "--results",
        type=click.Path(path_type=Path, file_okay=False),
        help="A folder in which results are kept as they come; what it has is not done again.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print JSON, with each outcome.")
    def main(*, as_json: bool, results: Path | None, jobs: int, **options: Any) -> None:
        """Compare the rows of a study in simulated worlds; print Markdown.

        But for seconds, the same options print the same bytes.
        """
        todo = [*_jobs(study, **options)]
        if not todo:
            raise none_matches(options["rows"], (parts.name for parts in study.rows))
        done = worked(work, todo, jobs=jobs, folder=results, job=Job, outcome=Outcome.of)
        come: dict[str, Came] = by_world(todo, done, lambda outcome: outcome.score)
        shown = json.dumps(come, default=asdict, indent=1) if as_json else "\n".join(printed(come))
        click.echo(shown)

    return main


def _jobs(
    study: Study,
    *,
    seeds: int,
    tasks: int,
    test: int,
    worlds: Sequence[str],
    rows: Sequence[str],
) -> Iterator[Job]:
    """List what there is to do, seed by seed; the first row is always among it."""
    wanted = matching((parts.name for parts in study.rows), rows)
    for kind in study.kinds:
        many = max(1, tasks // study.level) if kind == LEVEL else tasks
        for seed in range(seeds if wanted and kind in matching(study.kinds, worlds) else 0):
            for item in study.rows:
                if item.name in wanted or item is study.rows[0]:
                    yield Job(
                        study=study.name,
                        world=kind,
                        row=item.name,
                        seed=seed,
                        tasks=many,
                        test=test,
                    )
