"""Judges predictions of WorkBench that were recorded elsewhere."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.workbench.tables import find_folder
from coterie.schema.command import Command
from coterie.schema.values.errors import InputError

from .recorded import judge_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .recorded import Judged


@click.command(cls=Command)
@click.argument("predictions", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--data", type=click.Path(path_type=Path), help="The benchmark's files.")
@click.option("--rows", type=click.Path(path_type=Path), help="Write a verdict a row here, as CSV.")
def main(predictions: tuple[Path, ...], data: Path | None, rows: Path | None) -> None:
    """Judge files of PREDICTIONS with the columns query, function_calls and error."""
    folder = find_folder(data)
    judged = {path: judge_file(path, folder) for path in predictions}
    for path, those in judged.items():
        click.echo(f"{path.name}: {_summed(those)}")
    if len(judged) > 1:
        click.echo(f"all: {_summed([item for those in judged.values() for item in those])}")
    if rows is not None:
        _write(rows, judged)


def _summed(judged: Sequence[Judged]) -> str:
    result = [item.verdict for item in judged]
    right = sum(verdict.correct for verdict in result)
    share = f" ({right / len(result):.1%})" if result else ""
    return (
        f"{len(result)} predictions, {right} correct{share},"
        f" {sum(verdict.side_effects for verdict in result)} with side effects,"
        f" {sum(verdict.exact_match for verdict in result)} exact matches,"
        f" {sum(bool(item.error) for item in judged)} with an error"
    )


def _write(path: Path, judged: Mapping[Path, Sequence[Judged]]) -> None:
    columns = ("file", "query", "correct", "side_effects", "exact_match", "error")
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for source, those in judged.items():
                for item in those:
                    result = item.verdict
                    marks = (result.correct, result.side_effects, result.exact_match)
                    writer.writerow([source.name, item.query, *map(int, marks), item.error])
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}.") from None


if __name__ == "__main__":
    main()
