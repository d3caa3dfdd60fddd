"""What each method costs a task, against a single agent, by the length of answers.

    python -m studies.costs

Each method works on a stream of its own study, with its settings and answers of at least 1,000 and
4,000 tokens; a single agent answers the tasks of `studies.chamber`, which are as long as the
others'. *Agents* are the team's tokens and *operators* those of who reflects, judges and rebuilds,
while it learns; *tested* is what a task takes afterwards, when nothing more is learnt. A token is
four characters. Prompts are the package's own.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command

from .resumable import worked
from .simulated import head, row
from .world.trials import DRAWN, Job, Outcome, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEPLOYED = {"landscape"}
"""Studies whose strategy leaves a team, which then takes what the team takes."""
LENGTHS = (1_000, 4_000)
SINGLE = ("chamber", "single agent")
METHODS: Mapping[tuple[str, str], str] = {
    SINGLE: "single agent",
    ("chamber", "self-consistency"): "self-consistency, 5 votes",
    ("chamber", "full"): "EvoChamber",
    ("retrospect", "no evolution"): "a team of 5 (Meta-Team's)",
    ("retrospect", "centralised"): "Meta-Team, centralised",
    ("retrospect", "full"): "Meta-Team",
    ("consulting", "no experience"): "a consultation of 5",
    ("consulting", "naive, fair"): "MATTRL, naive",
    ("consulting", "difference, fair"): "MATTRL, difference",
    ("adaptation", "one round"): "a team of roles",
    ("adaptation", "joint"): "TacoMAS, 7 rounds",
    ("landscape", "fixed"): "a team of 3 (EvoMAS's)",
    ("landscape", "EvoMAS"): "EvoMAS",
}
"""What is measured: a study and its row, and what the table calls it."""
PAPERS: Mapping[str, str] = {"EvoChamber": "3.6, inference (Limitations)"}
"""What a paper says of tokens against a single agent; the others say nothing of it."""


@click.command(cls=Command)
@click.option("--seeds", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--tasks", type=click.IntRange(min=2), default=12, show_default=True)
@click.option("--test", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
def main(seeds: int, tasks: int, test: int, jobs: int) -> None:
    """Print what each method costs a task, for answers of 1,000 and of 4,000 tokens."""
    todo = [
        Job(
            study=study,
            world=DRAWN,
            row=it,
            seed=seed,
            tasks=tasks,
            test=0 if study in DEPLOYED else test,
            tokens=tokens,
        )
        for study, it in METHODS
        for tokens in LENGTHS
        for seed in range(seeds)
    ]
    done = dict(worked(work, todo, jobs=jobs, folder=None, job=Job, outcome=Outcome.of))
    table: dict[tuple[str, str, int], list[Outcome]] = {}
    for job in todo:
        table.setdefault((job.study, job.row, job.tokens), []).append(done[job])
    click.echo("\n".join(_table(table)))


def _table(table: Mapping[tuple[str, str, int], Sequence[Outcome]]) -> Iterator[str]:
    sizes = [f"{what}, {size:,}" for size in LENGTHS for what in ("agents", "operators", "tested")]
    times = [f"times, {size:,}" for size in LENGTHS]
    yield from head("tokens a task", *sizes, *times, "in the paper")
    for key, name in METHODS.items():
        cells = [cell for size in LENGTHS for cell in _tokens(table[*key, size])]
        ratios = [_all(table[*key, size]) / _all(table[*SINGLE, size]) for size in LENGTHS]
        shown = [
            *("-" if math.isnan(cell) else f"{cell:,.0f}" for cell in cells),
            *(f"{ratio:.1f}" for ratio in ratios),
        ]
        yield row(name, *shown, PAPERS.get(name, "-"))


def _tokens(outcomes: Sequence[Outcome]) -> Iterator[float]:
    for who in ("agents", "operators"):
        yield fmean(outcome.tokens[who] / len(outcome.scores) for outcome in outcomes)
    yield fmean(
        outcome.tested / len(outcome.test) if outcome.test else math.nan for outcome in outcomes
    )


def _all(outcomes: Sequence[Outcome]) -> float:
    return fmean(outcome.a_task for outcome in outcomes)


if __name__ == "__main__":
    main()
