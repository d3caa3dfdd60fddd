"""Prints the tables of docs/research/published-streams.md."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.comparison.tables import written
from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.small.mathematics import require_math
from coterie.runtime.jail import Jails
from coterie.runtime.scoring.scorers import Evidence, score
from coterie.schema.command import Command

from .agreement import others, own, verdicts
from .answers import KINDS, READERS
from .forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .agreement import Pair, Verdict
    from .answers import Answered

TABLES = (*READERS, "forms", "pairs")


@click.command(cls=Command)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The folder with the files of gsm8k, math500 and mbpp.",
)
@click.option(
    "--only", type=click.Choice(TABLES), multiple=True, help="Only this. May be given again."
)
@click.option("--sample", type=click.IntRange(min=1), help="Only so many items, the same ones.")
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How many pairs of different answers.",
)
def main(data: Path, only: tuple[str, ...], sample: int | None, pairs: int) -> None:
    """Judge published answers, and what is none, of four benchmarks; print Markdown.

    Verdicts that are not as they should be, and of other problems' answers those that are right,
    are listed on standard error.
    """
    wanted, source = only or TABLES, Source(data=data)
    require_math("verdicts on math500")
    with closing(Jails()) as jails:
        jails.check()
        rows = [
            asyncio.run(_row(name, source, jails, sample)) for name in READERS if name in wanted
        ]
        _print(rows)
        if "forms" in wanted:
            _print(asyncio.run(_agreed(own(source, sample), jails, by_form=True)))
        if "pairs" in wanted:
            _print(asyncio.run(_agreed(others(source, pairs), jails, by_form=False)))


def _print(rows: Sequence[dict[str, str]]) -> None:
    if rows:
        click.echo(f"{written(rows, 'markdown')}\n")


async def _row(name: str, source: Source, jails: Jails, sample: int | None) -> dict[str, str]:
    items = READERS[name](source)
    if sample is not None and sample < len(items):
        items = random.Random(name).sample(items, sample)  # noqa: S311 - the same draw every time
    row = {"benchmark": name, "items": f"{len(items):,}"}
    await _value(items[0], KINDS[0], jails)  # what is started at first use is no verdict's time
    for kind in KINDS:
        begun = time.monotonic()
        values = [await _value(item, kind, jails) for item in items]
        if kind == KINDS[0]:
            row["ms each"] = f"{1000 * (time.monotonic() - begun) / len(items):.3g}"
        row[kind] = f"{sum(values) / len(values):.3f}"
        wanted = float(kind == KINDS[0])
        for item, value in zip(items, values, strict=True):
            if value != wanted:
                click.echo(f"{item.task.id}: {kind}: {value:g}", err=True)
    return row


async def _value(item: Answered, kind: str, jails: Jails) -> float:
    result = await score(Evidence(task=item.task, answer=item.answers[kind], jails=jails))
    assert result is not None  # noqa: S101 - the task has a reference answer
    return result.value


async def _agreed(pairs: Sequence[Pair], jails: Jails, *, by_form: bool) -> list[dict[str, str]]:
    result = [verdict async for verdict in verdicts(pairs, jails)]
    for item in result:
        if item.scorer != item.library or (item.scorer and not by_form):
            click.echo(_told(item), err=True)
    if by_form:
        return [
            _counted(form, [verdict for verdict in result if verdict.pair.form == form])
            for form in FORMS
        ]
    return [_counted("of another problem, any form", result)]


def _counted(name: str, result: Sequence[Verdict]) -> dict[str, str]:
    return {
        "form": name,
        "answers": f"{len(result):,}",
        "rewritten": f"{sum(verdict.pair.changed for verdict in result):,}",
        "right by the scorer": f"{sum(verdict.scorer for verdict in result):,}",
        "right by math-verify": f"{sum(verdict.library for verdict in result):,}",
        "disagreements": f"{sum(verdict.scorer != verdict.library for verdict in result):,}",
    }


def _told(verdict: Verdict) -> str:
    text = f"scorer {verdict.scorer}, library {verdict.library}"
    return f"{verdict.pair.form}: {verdict.pair.text!r} for {verdict.pair.task.answer!r}: {text}"


if __name__ == "__main__":
    main()
