"""Compares ways to evolve in the landscape and prints the tables of docs/landscape.md."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from itertools import repeat
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from .trials import MOST_AGENTS, PUZZLES, SEEDS, Outcome, Trial, evolve
from .world import NICHES, best_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EQUAL = 5
"""Steps that cost a way without a meta-model at least as many calls as EvoMAS takes with two."""

UNCROSSED: Mapping[str, object] = {"crossover": (0.0, 0.0)}
AS_THEY_ARE: Mapping[str, object] = {"instantiate": False, "steps": 4}
CHANCE: Mapping[str, object] = {"operators": "chance", "steps": EQUAL}
BEST_OF_N: Mapping[str, object] = {"strategy": "best_of_n", "steps": EQUAL}


def _crossed_or_not(name: str, seeds: tuple[str, ...], puzzles: int = PUZZLES) -> tuple[Trial, ...]:
    """Evolve teams as they are, so that crossover meets the parents that it is given."""
    crossed = Trial(name=f"{name}, crossover", seeds=seeds, puzzles=puzzles, changes=AS_THEY_ARE)
    changes = {**AS_THEY_ARE, **UNCROSSED}
    return crossed, replace(crossed, name=f"{name}, no crossover", changes=changes)


TRIALS = (
    Trial(name="EvoMAS"),
    Trial(name="chance, equal calls", changes=CHANCE),
    Trial(name="best of n, equal calls", changes=BEST_OF_N),
    Trial(name="fixed seeds", changes={"strategy": "fixed"}),
    Trial(name="EvoMAS, skill 0", skill=0.0),
    Trial(name="EvoMAS from one agent", seeds=("solo",)),
    Trial(name="EvoMAS from one agent, equal calls", seeds=("solo",), changes={"steps": 8}),
    *(Trial(name=f"EvoMAS, shuffle {order}", order=order) for order in range(1, 6)),
    *_crossed_or_not("good at one role", ("good_workers", "good_judges")),
    *_crossed_or_not("good in one respect", ("well_prompted", "well_staffed")),
    *_crossed_or_not("unspecialised", SEEDS),
    Trial(name="one puzzle: EvoMAS", puzzles=1),
    Trial(name="one puzzle: chance, equal calls", puzzles=1, changes=CHANCE),
    Trial(name="one puzzle: best of n, equal calls", puzzles=1, changes=BEST_OF_N),
    *_crossed_or_not("one puzzle: good at one role", ("good_workers", "good_judges"), 1),
)
T_95: Mapping[int, float] = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 10: 2.26, 20: 2.09, 40: 2.02}
"""Student's t for an interval of 95 %, by the number of seeds; the next lower number is taken."""


@click.command(cls=Command)
@click.option("--seeds", type=click.IntRange(min=2), default=20, show_default=True)
@click.option("--tasks", type=click.IntRange(min=4), default=12, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--rows", default="*", help="Only rows whose names match, such as 'EvoMAS*'.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with each seed's outcome.")
def main(seeds: int, tasks: int, jobs: int, rows: str, as_json: bool) -> None:
    """Compare ways to evolve; print Markdown."""
    trials = [one for one in TRIALS if fnmatchcase(one.name, rows)]
    if not trials:
        raise click.BadParameter(
            f"no row matches {rows!r}. Rows: {'; '.join(one.name for one in TRIALS)}.",
            param_hint="--rows",
        )
    pairs = [(trial, seed) for seed in range(seeds) for trial in trials]
    found: dict[str, list[Outcome]] = {trial.name: [] for trial in trials}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
        outcomes = executor.map(evolve, *zip(*pairs, strict=True), repeat(tasks))
        values = executor.map(best_value, NICHES, repeat(MOST_AGENTS))
        for (trial, seed), outcome in zip(pairs, outcomes, strict=True):
            found[trial.name].append(outcome)
            if trial is trials[-1]:
                click.echo(f"seed {seed + 1} of {seeds}: done", err=True)
        best = dict(zip(NICHES, values, strict=True))
    if as_json:
        outcome_values = {name: [*map(asdict, outcomes)] for name, outcomes in found.items()}
        told = {"optimum": best, "most_agents": MOST_AGENTS, "rows": outcome_values}
        click.echo(json.dumps(told))
    else:
        _print(found, best)


def _print(found: Mapping[str, Sequence[Outcome]], best: Mapping[str, float]) -> None:
    click.echo("| | held-out, seeds | held-out, after | online | calls/task |")
    click.echo("|---|---|---|---|---|")
    for name, outcomes in found.items():
        begun, held_out, online, calls = (
            [getattr(one, field) for one in outcomes]
            for field in ("begun", "held_out", "online", "calls")
        )
        click.echo(
            f"| {name} | {statistics.mean(begun):.3f} | {_interval(held_out)}"
            f" | {_interval(online)} | {statistics.mean(calls):.1f} |"
        )
    click.echo("\n| niche | optimum | best team in any pool |")
    click.echo("|---|---|---|")
    for niche, value in best.items():
        mine = max(one.best[niche] for outcomes in found.values() for one in outcomes)
        click.echo(f"| {niche} | {value:.3f} | {mine:.3f} |")
    _print_picks(found)
    _print_differences(found)
    _print_operators(found)


def _print_picks(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Tell how good the teams are that different rules pick from the same pools."""
    click.echo("\n| held-out, of the team | expected to score most | of highest mean | best |")
    click.echo("|---|---|---|---|")
    for name in (name for name in found if name.endswith("EvoMAS")):
        by_rule = (
            [one.held_out for one in found[name]],
            [one.by_mean for one in found[name]],
            [statistics.mean(one.best.values()) for one in found[name]],
        )
        click.echo(f"| {name} | {' | '.join(map(_interval, by_rule))} |")


def _print_differences(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Compare rows seed by seed: the same tasks, and the same shared mistakes."""
    pairs = [
        # What is asked of crossover is what it adds, of all else what EvoMAS is ahead by.
        (name, one) if name.endswith(", crossover") else (one, name)
        for name in found
        if (one := _baseline(name)) in found and one != name
    ]
    click.echo("\n| difference, same seeds | held-out | online |")
    click.echo("|---|---|---|")
    for one, other in pairs:
        cells = (
            _interval(
                [
                    getattr(a, field) - getattr(b, field)
                    for a, b in zip(found[one], found[other], strict=True)
                ],
                signed=True,
            )
            for field in ("held_out", "online")
        )
        click.echo(f"| {one} - {other} | {' | '.join(cells)} |")


def _baseline(name: str) -> str:
    """Name the row that a row is compared with."""
    if name.endswith(" crossover"):
        return name.replace(", crossover", ", no crossover")
    return "one puzzle: EvoMAS" if name.startswith("one puzzle") else "EvoMAS"


def _print_operators(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Tell what became of children, in the rows that are about crossover."""
    click.echo("\n| operator, all seeds | made | dropped | best of its task |")
    click.echo("|---|---|---|---|")
    for name in (name for name in found if name.endswith(" crossover")):
        sums: dict[str, Counter[str]] = {}
        for outcome in found[name]:
            for operator, counts in outcome.operators.items():
                sums.setdefault(operator, Counter()).update(counts)
        for operator, total in sorted(sums.items()):
            cells = (str(total[field]) for field in ("made", "dropped", "best"))
            click.echo(f"| {name}: {operator} | {' | '.join(cells)} |")


def _interval(values: Sequence[float], *, signed: bool = False) -> str:
    """Write a mean with its interval of 95 % over the seeds, by Student's t."""
    t = T_95[max(size for size in T_95 if size <= len(values))]
    half = t * statistics.stdev(values) / math.sqrt(len(values))
    mean: Any = statistics.mean(values)
    shown = f"{mean:+.3f}" if signed else f"{mean:.3f}"
    return f"{shown} [{mean - half:.3f}, {mean + half:.3f}]"


if __name__ == "__main__":
    main()
