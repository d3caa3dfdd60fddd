"""Compares ways to evolve in the landscape and prints the tables of docs/landscape.md."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import repeat
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from .trials import MOST_AGENTS, SPECIALISTS, Outcome, Trial, evolve
from .world import NICHES, best_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EQUAL = 4
"""Steps that cost a way without a meta-model at least as many calls as EvoMAS takes with two."""

UNCROSSED: Mapping[str, object] = {"crossover": (0.0, 0.0)}
UNADAPTED: Mapping[str, object] = {"instantiate": False, "steps": EQUAL}
TRIALS = (
    Trial(name="EvoMAS"),
    Trial(name="chance, equal calls", changes={"operators": "chance", "steps": EQUAL}),
    Trial(name="best of n, equal calls", changes={"strategy": "best_of_n", "steps": EQUAL}),
    Trial(name="fixed seeds", changes={"strategy": "fixed"}),
    Trial(name="EvoMAS, skill 0", skill=0.0),
    Trial(name="EvoMAS from one agent", seeds=("solo",)),
    Trial(name="EvoMAS, tasks shuffled", order=1),
    Trial(name="specialists, crossover", seeds=SPECIALISTS),
    Trial(name="specialists, no crossover", seeds=SPECIALISTS, changes=UNCROSSED),
    Trial(name="as they are, crossover", seeds=SPECIALISTS, changes=UNADAPTED),
    Trial(name="as they are, no crossover", seeds=SPECIALISTS, changes={**UNADAPTED, **UNCROSSED}),
)
T_95: Mapping[int, float] = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 10: 2.26, 20: 2.09, 40: 2.02}
"""Student's t for an interval of 95 %, by the number of seeds; the next lower number is taken."""


@click.command(cls=Command)
@click.option("--seeds", type=click.IntRange(min=2), default=20, show_default=True)
@click.option("--tasks", type=click.IntRange(min=4), default=12, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with each seed's outcome.")
def main(seeds: int, tasks: int, jobs: int, as_json: bool) -> None:
    """Compare ways to evolve; print Markdown."""
    pairs = [(trial, seed) for seed in range(seeds) for trial in TRIALS]
    found: dict[str, list[Outcome]] = {trial.name: [] for trial in TRIALS}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
        outcomes = executor.map(evolve, *zip(*pairs, strict=True), repeat(tasks))
        values = executor.map(best_value, NICHES, repeat(MOST_AGENTS))
        for (trial, seed), outcome in zip(pairs, outcomes, strict=True):
            found[trial.name].append(outcome)
            if trial is TRIALS[-1]:
                click.echo(f"seed {seed} of {seeds}: done", err=True)
        best = dict(zip(NICHES, values, strict=True))
    if as_json:
        rows = {name: [asdict(one) for one in outcomes] for name, outcomes in found.items()}
        click.echo(json.dumps({"optimum": best, "most_agents": MOST_AGENTS, "rows": rows}))
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
    click.echo("\n| niche | optimum | best in a pool of EvoMAS |")
    click.echo("|---|---|---|")
    for niche, value in best.items():
        mine = max(one.best[niche] for one in found["EvoMAS"])
        click.echo(f"| {niche} | {value:.3f} | {mine:.3f} |")
    _print_differences(found)
    _print_operators(found)


def _print_differences(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Compare rows seed by seed: the same tasks, and the same shared mistakes."""
    first = "EvoMAS"
    pairs = [(first, other) for other in found if not other.endswith(" crossover")][1:]
    crossed = (name for name in found if name.endswith(", crossover"))
    pairs += [(name, name.replace(", ", ", no ")) for name in crossed]
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
