"""`mas-bench export`: answers in the formats of original evaluators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...schema.command import Command
from ...schema.values.codec import from_value
from ...schema.values.errors import InputError
from ...schema.values.terminal import speakable
from .options import RESULTS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..evaluation.benchmark import Benchmark
    from ..evaluation.exporting import Answers
    from ..evaluation.samples import Sample


@click.command("export", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--format", "form", help="The format of TARGET.  [default: the only format]")
@click.option("--trial", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--name", help="The name of the submission.  [default: the team's]")
def export(folder: Path, target: Path, form: str | None, trial: int, name: str | None) -> None:
    """Write an evaluation's answers to TARGET in the format of the benchmark's evaluator."""
    from ..evaluation.benchmark import find_benchmark
    from ..evaluation.exporting import Answers
    from ..evaluation.logs import log_path
    from ..evaluation.results import Request, read_results, read_samples

    def log(sample: Sample) -> str:
        path = log_path(folder, sample.task, sample.trial)
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    results = read_results(folder)
    write = _writer(find_benchmark(results["benchmark"]), form, folder)
    samples = [sample for sample in read_samples(folder) if sample.trial == trial]
    if not samples:
        raise InputError(f"{folder}: there is no trial {trial}.")
    answers = Answers(
        source=from_value(Request, results["evaluation"]).source,
        samples=samples,
        log=log,
        name=name or results["team"],
        target=target,
    )
    click.echo(speakable(write(answers)))


def _writer(benchmark: Benchmark, form: str | None, folder: Path) -> Callable[[Answers], str]:
    """Return the writer of a format; the default is the benchmark's only one."""
    if form is None and len(benchmark.exports) == 1:
        (form,) = benchmark.exports
    if form is None or form not in benchmark.exports:
        formats = ", ".join(sorted(benchmark.exports)) or "none"
        text = f"no format {form!r}" if form else "no default format"
        raise InputError(f"{folder}: {benchmark.name} has {text}. Formats: {formats}.")
    return benchmark.exports[form]
