"""`mas-bench list`, `compare` and `table`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, OutputFile, as_json
from ...schema.host.catalogue import installed
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, speakable
from .options import RESULTS_FOLDER, TOO_LOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from click import Context, Parameter

    from ..comparison.tables import Format
    from ..evaluation.benchmark import Benchmark

MOST_NICHES = 30


class Margin(click.ParamType[float]):
    """A difference of scores from 0 to 1, which may be left out."""

    name = "margin"

    def convert(self, value: Any, param: Parameter | None, ctx: Context | None) -> float:
        """Parse the margin; for a folder, say where folders go."""
        try:
            margin = float(value)
        except ValueError:
            self.fail(
                f"{value!r} is not a margin. Name the folders first, or write --fail-if-worse=0.",
                param,
                ctx,
            )
        if not 0 <= margin <= 1:
            self.fail(f"{margin:g} is not between 0 and 1.", param, ctx)
        return margin


_format = click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "csv", "latex"]),
    default="markdown",
    show_default=True,
    help="Of a table.",
)


@click.command("list", cls=Command)
@click.argument("name", metavar="[BENCHMARK]", required=False)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With BENCHMARK: also count the tasks of this folder.",
)
@as_json
def show_list(name: str | None, data: Path | None, as_json: bool) -> None:
    """List the benchmarks that are installed, or describe one: tasks, scorer, source, licence.

    A benchmark that cannot be loaded is reported on standard error.
    """
    if name is not None:
        _describe(name, data, as_json=as_json)
        return
    benchmarks = [*_loaded()]
    if as_json:
        rows = [
            {"name": benchmark.name, "title": benchmark.title, "trials": benchmark.trials}
            for benchmark in benchmarks
        ]
        click.echo(dumps(rows, indent=2))
        return
    width = max((len(benchmark.name) for benchmark in benchmarks), default=0)
    for benchmark in benchmarks:
        click.echo(f"{benchmark.name:<{width}}  {benchmark.title}")


def _loaded() -> Iterator[Benchmark]:
    from ..evaluation.benchmark import find_benchmark

    for name in sorted(installed("benchmarks")):
        try:
            yield find_benchmark(name)
        except InputError as error:
            click.echo(f"warning: {speakable(str(error))}", err=True)


def _describe(name: str, data: Path | None, *, as_json: bool) -> None:
    from ..evaluation.benchmark import Source, find_benchmark

    benchmark = find_benchmark(name)
    fields: dict[str, Any] = {
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
        fields["tasks"] = len(tasks)
        fields["niches"] = dict(Counter(task.niche or "" for task in tasks))
    click.echo(dumps(fields, indent=2) if as_json else speakable(_described(fields)))


def _described(figures: dict[str, Any]) -> str:
    lines = [f"{figures['name']}: {figures['title']}", "", figures["about"], ""]
    plain = ("headline", "trials", "licence", "citation", "source", "tasks")
    lines += [f"{name}: {figures[name]}" for name in plain if figures.get(name)]
    if figures["tools"]:
        lines.append(f"tools: {', '.join(figures['tools'])}")
    if niches := figures.get("niches"):
        shown = [f"{niche} {count}" for niche, count in niches.items() if niche][:MOST_NICHES]
        lines.append(f"niches: {', '.join(shown)}")
    return "\n".join(lines)


@click.command("compare", cls=Command)
@click.argument("folders", nargs=-1, required=True, metavar="RESULTS...", type=RESULTS_FOLDER)
@click.option("--all-pairs", is_flag=True, help="Compare each pair, not only each with the first.")
@click.option(
    "--fail-if-worse",
    "margin",
    is_flag=False,
    flag_value="0",
    type=Margin(),
    metavar="[MARGIN]",
    help="Exit with code 4 if the whole interval of a difference is below -MARGIN, or below"
    " 0: the second is worse by more than chance.",
)
@click.option(
    "--junit",
    metavar="FILE",
    type=OutputFile(),
    help="Also write a test for each comparison as JUnit XML; it fails as --fail-if-worse does.",
)
@_format
@as_json
def compare_results(
    *,
    folders: Sequence[Path],
    all_pairs: bool,
    margin: float | None,
    junit: Path | None,
    form: Format,
    as_json: bool,
) -> None:
    """Test whether two evaluations, or two evolutions, differ by more than chance.

    RESULTS are folders of evaluations of one benchmark, or POOL/evolutions/NAME of evolutions that
    were tested on held-out tasks (--test). Two are compared on the tasks that both have: the
    difference of the means with its 95 % interval, effect sizes, and a test. The test is McNemar's
    exact one for single trials that are right or wrong, else the paired t-test; Wilcoxon's over
    tasks is shown too. Of three or more, each is compared with the first, and p-values are adjusted
    (Holm).
    """
    from ...schema.values.files import write_atomically
    from ..comparison.comparing import compare_all, compared, p_adjusted
    from ..comparison.junit import comparisons_as_junit
    from ..comparison.tables import written

    if len(folders) < 2:
        raise InputError("name two or more folders of results.")
    comparisons = compare_all(folders, all_pairs=all_pairs)
    if len(comparisons) == 1:
        fields = comparisons[0].value()
        click.echo(dumps(fields, indent=2) if as_json else speakable(str(comparisons[0])))
    elif as_json:
        adjusted = p_adjusted(comparisons)
        rows = [
            {**item.value(), "p_holm": p} for item, p in zip(comparisons, adjusted, strict=True)
        ]
        click.echo(dumps({"comparisons": rows}, indent=2))
    else:
        click.echo(speakable(written(compared(comparisons), form)))
        warnings = dict.fromkeys(
            line for comparison in comparisons for line in comparison.warnings()
        )
        for warning in warnings:
            click.echo(speakable(warning), err=True)
    if junit is not None:
        write_atomically(junit, comparisons_as_junit(comparisons, margin=margin or 0.0))
    worse = [
        comparison
        for comparison in comparisons
        if margin is not None and comparison.is_worse(margin)
    ]
    for comparison in worse:
        click.echo(speakable(f"worse: {comparison.headline}"), err=True)
    if worse:
        raise click.exceptions.Exit(TOO_LOW)


@click.command("table", cls=Command)
@click.argument("folders", nargs=-1, required=True, metavar="RESULTS...", type=RESULTS_FOLDER)
@click.option("--niches", is_flag=True, help="A row for each niche, a column for each evaluation.")
@click.option("--agents", is_flag=True, help="A row for each agent: what its calls consumed.")
@_format
def table(folders: Sequence[Path], niches: bool, agents: bool, form: Format) -> None:
    """Write a table of evaluations: figures with intervals, sizes, and costs.

    A killed evaluation is shown as far as its journal goes. LaTeX tables need the package booktabs.
    """
    from ..comparison.tables import by_agent, by_niche, by_team, written
    from ..evaluation.results import read_results

    if niches and agents:
        raise InputError("--niches and --agents cannot be combined. Leave one of them out.")
    records = [read_results(folder) for folder in folders]
    rows = by_niche(records) if niches else by_agent(records) if agents else by_team(records)
    click.echo(speakable(written(rows, form)))
    for folder, fields in zip(folders, records, strict=True):
        if fields.get("interrupted"):
            many = f"{counted(fields['missing'], 'sample')} missing"
            text = f"{folder}: interrupted, {many}. Resume: mas-bench resume {folder}"
            click.echo(speakable(text), err=True)
