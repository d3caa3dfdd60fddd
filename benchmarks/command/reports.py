"""`mas-bench list`, `info`, `compare` and `table`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.catalogue import installed
from ...schema.command import Command
from ...schema.errors import InputError
from .options import RESULTS_FOLDER, as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..benchmark import Benchmark
    from ..tables import Format

__all__ = ["compare_results", "info", "show_list", "table"]

MOST_NICHES = 30


@click.command("list", cls=Command)
@as_json
def show_list(as_json: bool) -> None:
    """List the benchmarks that are installed; what is broken is told on standard error."""
    from ..benchmark import find_benchmark

    found: list[Benchmark] = []
    for name in sorted(installed("benchmarks")):
        try:
            found.append(find_benchmark(name))
        except InputError as error:
            click.echo(f"warning: {speakable(str(error))}", err=True)
    if as_json:
        rows = [{"name": one.name, "title": one.title, "trials": one.trials} for one in found]
        click.echo(json.dumps(rows, indent=2))
        return
    width = max((len(one.name) for one in found), default=0)
    for one in found:
        click.echo(f"{one.name:<{width}}  {one.title}")


@click.command("info", cls=Command)
@click.argument("name", metavar="BENCHMARK")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Also count the tasks of this folder.",
)
@as_json
def info(name: str, data: Path | None, as_json: bool) -> None:
    """Say what BENCHMARK asks, how it is scored, whose it is, and how to come by its data."""
    from ..benchmark import Source, find_benchmark

    benchmark = find_benchmark(name)
    told: dict[str, Any] = {
        "name": benchmark.name,
        "title": benchmark.title,
        "about": benchmark.about,
        "headline": benchmark.headline.name,
        "trials": benchmark.trials,
        "tools": list(benchmark.tools),
        "licence": benchmark.licence,
        "citation": benchmark.citation,
        "source": benchmark.source,
    }
    if data is not None:
        tasks = benchmark.tasks(Source(data=data))
        told["tasks"] = len(tasks)
        told["niches"] = dict(Counter(task.niche or "" for task in tasks))
    click.echo(json.dumps(told, indent=2) if as_json else speakable(_described(told)))


def _described(told: dict[str, Any]) -> str:
    lines = [f"{told['name']}: {told['title']}", "", told["about"], ""]
    plain = ("headline", "trials", "licence", "citation", "source", "tasks")
    lines += [f"{name}: {told[name]}" for name in plain if told.get(name)]
    if told["tools"]:
        lines.append(f"tools: {', '.join(told['tools'])}")
    if niches := told.get("niches"):
        shown = [f"{niche} {count}" for niche, count in niches.items() if niche][:MOST_NICHES]
        lines.append(f"niches: {', '.join(shown)}")
    return "\n".join(lines)


@click.command("compare", cls=Command)
@click.argument("one", type=RESULTS_FOLDER)
@click.argument("other", type=RESULTS_FOLDER)
@as_json
def compare_results(one: Path, other: Path, as_json: bool) -> None:
    """Say whether two evaluations of one benchmark differ by more than chance.

    They are compared on the tasks that both have: the difference of the means with its 95 %
    interval, exact McNemar for single trials, else the paired t-test and Wilcoxon's over tasks.
    """
    from ..comparing import compare

    comparison = compare(one, other)
    click.echo(json.dumps(comparison.value(), indent=2) if as_json else speakable(str(comparison)))


@click.command("table", cls=Command)
@click.argument("folders", nargs=-1, required=True, type=RESULTS_FOLDER)
@click.option("--niches", is_flag=True, help="A row for each niche, a column for each evaluation.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "csv"]),
    default="markdown",
    show_default=True,
)
def table(folders: Sequence[Path], niches: bool, form: Format) -> None:
    """Write a table of evaluations: figures with intervals, sizes, and costs."""
    from ..results import read_results
    from ..tables import by_niche, by_team, written

    found = [read_results(folder) for folder in folders]
    click.echo(speakable(written(by_niche(found) if niches else by_team(found), form)))
