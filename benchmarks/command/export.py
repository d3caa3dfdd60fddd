"""`mas-bench export` and `export-preds`: answers in the formats of original evaluators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...runtime.terminal import speakable
from ...schema.codec import from_value
from ...schema.command import Command
from ...schema.errors import InputError
from .options import RESULTS_FOLDER

if TYPE_CHECKING:
    from ..samples import Sample

__all__ = ["export", "export_preds"]

_TARGET = click.argument("target", type=click.Path(path_type=Path))
_TRIAL = click.option("--trial", type=click.IntRange(min=1), default=1, show_default=True)
_NAME = click.option("--name", help="The name to file them under.  [default: the team's]")


@click.command("export", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@_TARGET
@click.option("--format", "form", help="Which format.  [default: the only one there is]")
@_TRIAL
@_NAME
def export(folder: Path, target: Path, form: str | None, trial: int, name: str | None) -> None:
    """Write the answers of an evaluation to TARGET as the benchmark's own evaluator reads them."""
    from ..benchmark import find_benchmark
    from ..results import read_results

    benchmark = find_benchmark(read_results(folder)["benchmark"])
    known = ", ".join(sorted(benchmark.exports)) or "none"
    if form is None and len(benchmark.exports) == 1:
        (form,) = benchmark.exports
    if form is None or form not in benchmark.exports:
        said = f"no format {form!r}" if form else "no format of its own to choose by itself"
        raise InputError(f"{folder}: {benchmark.name} has {said}. Formats: {known}.")
    _written(folder, target, form, trial, name)


@click.command("export-preds", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@click.argument("target", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@_TRIAL
@_NAME
def export_preds(folder: Path, target: Path, trial: int, name: str | None) -> None:
    """Write the patches of an evaluation as predictions for the official SWE-bench harness.

    FILE ends with .json or .jsonl. `mas-bench export` does the same for every benchmark.
    """
    from ..benchmark import find_benchmark
    from ..results import read_results

    benchmark = find_benchmark(read_results(folder)["benchmark"])
    if "predictions" not in benchmark.exports:
        raise InputError(f"{folder}: {benchmark.name} is not about patches.")
    _written(folder, target, "predictions", trial, name)


def _written(folder: Path, target: Path, form: str, trial: int, name: str | None) -> None:
    from ..benchmark import find_benchmark
    from ..exporting import Answers
    from ..logs import log_path
    from ..results import Request, read_results, read_samples

    def log(sample: Sample) -> str:
        path = log_path(folder, sample.task, sample.trial)
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    told = read_results(folder)
    samples = [one for one in read_samples(folder) if one.trial == trial]
    if not samples:
        raise InputError(f"{folder}: there is no trial {trial}.")
    answers = Answers(
        source=from_value(Request, told["evaluation"]).source,
        samples=samples,
        log=log,
        name=name or told["team"],
        target=target,
    )
    click.echo(speakable(find_benchmark(told["benchmark"]).exports[form](answers)))
