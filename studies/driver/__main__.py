"""Says what a driver carries, where it saturates, and how many shards a stream of tasks needs.

    python -m studies.driver             # service times of this machine
    python -m studies.driver --fixed     # those of docs/research/driver.md
    python -m studies.driver --check     # the engine itself beside the simulation

The rules of the simulation are in `simulation`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command
from coterie.schema.values.errors import InputError
from coterie.schema.values.terminal import counted

from .costs import DOCUMENTED, Costs, measured
from .reality import BAND, compared
from .simulation import Load, quantile, saturation, simulate, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .simulation import Service

ROUNDS = 30
"""Calls that are simulated for each one in flight."""
FEWEST = 5_000
LOADS = (0.5, 0.9, 1.0, 2.0)
"""Of what saturates the driver."""
POINTS = (0.25, 0.75, 1.5)
CHECKED_SECONDS = 0.5
LOW = 5
MOST, LEAST = 1e9, 1e-6
"""Of any number that is asked about; and of hours. Beyond these, numbers are no longer finite."""
WIDEST = 100.0
"""Of spreads."""
HEAD_ROOM = 0.8
"""What a driver is planned for: the share of what saturates it."""


@click.command(cls=Command)
@click.option("--fixed", is_flag=True, help="Take the service times of docs/research/driver.md.")
@click.option("--unrecorded", is_flag=True, help="Of runs that keep no record.")
@click.option("--latency", type=float, default=2.0, show_default=True, help="Seconds of a call.")
@click.option(
    "--spread", type=float, default=0.5, show_default=True, help="Its coefficient of variation."
)
@click.option("--calls", type=int, default=10, show_default=True, help="Calls of a task.")
@click.option("--in-flight", type=int, multiple=True, help="Calls at once, again for more rows.")
@click.option("--code", type=float, default=0.0, help="The share of answers that are code.")
@click.option("--code-seconds", type=float, default=1.0, help="How long code takes.")
@click.option("--workers", type=int, default=1, help="How many pieces of code run at once.")
@click.option("--tasks", type=int, default=1_000_000, show_default=True, help="Of the stream.")
@click.option("--hours", type=float, default=24.0, show_default=True, help="In which it is done.")
@click.option("--check", is_flag=True, help="Only run the engine beside the simulation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(
    *,
    fixed: bool,
    unrecorded: bool,
    latency: float,
    spread: float,
    calls: int,
    in_flight: tuple[int, ...],
    code: float,
    code_seconds: float,
    workers: int,
    tasks: int,
    hours: float,
    check: bool,
    as_json: bool,
) -> None:
    """Simulate a driver that serves calls in flight, at the service times of this machine."""
    load = Load(
        in_flight=1,
        latency=latency,
        spread=spread,
        calls_per_run=calls,
        code=code,
        code_seconds=code_seconds,
        workers=workers,
    )
    _check(load, in_flight, tasks, hours)
    if check and fixed:
        raise InputError("--check runs the engine of this machine, and --fixed is of another one.")
    costs = DOCUMENTED if fixed else measured()
    service = costs.service(recorded=not unrecorded)
    if check:
        _tell_check(service, recorded=not unrecorded)
        return
    _, most = saturation(service, load)
    numbers = in_flight or tuple(sorted({max(1, round(most * share)) for share in LOADS}))
    rows = [_row(service, replace(load, in_flight=number)) for number in numbers]
    plan = _plan(costs, service, load, tasks, hours)
    if as_json:
        click.echo(json.dumps({"costs": asdict(costs), "loads": rows, "plan": plan}, indent=2))
        return
    click.echo("\n".join([*_told_costs(costs), "", *_told_rows(rows), "", *_told_plan(plan)]))


def _check(load: Load, in_flight: Sequence[int], tasks: int, hours: float) -> None:
    """Refuse what is no load.

    Raises:
        InputError: A number is out of range.
    """
    wanted: dict[str, tuple[float, bool]] = {
        "--latency": (load.latency, load.latency >= 0),
        "--spread": (load.spread, 0 <= load.spread <= WIDEST),
        "--calls": (load.calls_per_run, load.calls_per_run >= 1),
        "--in-flight": (min(in_flight, default=1), min(in_flight, default=1) >= 1),
        "--code": (load.code, 0 <= load.code < 1),
        "--code-seconds": (load.code_seconds, load.code_seconds > 0),
        "--workers": (load.workers, load.workers >= 1),
        "--tasks": (tasks, tasks >= 1),
        "--hours": (hours, hours >= LEAST),
    }
    for name, (value, is_fine) in wanted.items():
        if not is_fine or not value <= MOST:
            raise InputError(f"{name} {value}: that is no load. See --help for what it is of.")


def _row(service: Service, load: Load) -> dict[str, float]:
    calls = max(FEWEST, ROUNDS * load.in_flight)
    outcome = simulate(service, load, calls=calls)
    return {
        "in_flight": load.in_flight,
        "calls_per_second": outcome.rate,
        "utilisation": outcome.utilisation,
        "delay_p50_ms": quantile(outcome.delays, 0.5) * 1000,
        "delay_p99_ms": quantile(outcome.delays, 0.99) * 1000,
        # What was begun counts whole, also what goes on beyond the end.
        "busy_workers": min(outcome.busy_workers, load.workers),
    }


def _plan(costs: Costs, service: Service, load: Load, tasks: int, hours: float) -> dict[str, float]:
    """Say how many drivers a stream needs that is to be done in some hours, and what it leaves."""
    rate, most = saturation(service, load)
    calls = tasks * load.calls_per_run
    needed = calls / (hours * 3600)
    shards = math.ceil(needed / (HEAD_ROOM * rate))
    in_flight = needed / shards * most / rate
    return {
        "saturates_at": rate,
        "with_in_flight": most,
        "calls": calls,
        "calls_per_second": needed,
        "shards": shards,
        "in_flight_each": in_flight,
        "processor_hours": calls * work(service, load) / 3600,
        "journal_gb": (calls * costs.call_bytes + tasks * costs.run_bytes) / 1e9,
        "ledger_gb": tasks * costs.trial_bytes / 1e9,
        "memory_mb_each": (costs.base_bytes + in_flight * costs.flight_bytes) / 1e6,
    }


def _tell_check(service: Service, *, recorded: bool) -> None:
    most = CHECKED_SECONDS / service.call
    numbers = [max(LOW, round(most * share)) for share in POINTS]
    points = compared(service, numbers, recorded=recorded, seconds=CHECKED_SECONDS)
    click.echo("| in flight | predicted calls/s | measured | difference | processor |")
    click.echo("|---|---|---|---|---|")
    for point in points:
        row = (f"{point.in_flight:,}", f"{point.predicted:,.0f}", f"{point.measured:,.0f}")
        rest = (f"{point.difference:+.0%}", f"{point.processor:.0%}")
        click.echo(f"| {' | '.join((*row, *rest))} |")
    held = sum(item.holds for item in points)
    click.echo(f"\n{held} of {len(points)} predictions are within {BAND:.0%}.")


def _told_costs(costs: Costs) -> Iterator[str]:
    yield "| | unrecorded | recorded |"
    yield "|---|---|---|"
    yield f"| a call, ms of processor | {costs.call * 1e3:.2f} | {costs.recorded_call * 1e3:.2f} |"
    yield f"| a run, ms | {costs.run * 1e3:.2f} | {costs.recorded_run * 1e3:.2f} |"
    yield f"| a jail, ms | {costs.jail * 1e3:.2f} | {costs.jail * 1e3:.2f} |"
    yield f"| on disk: a call, KB | 0 | {costs.call_bytes / 1e3:.1f} |"
    yield f"| on disk: a run, KB | 0 | {costs.run_bytes / 1e3:.1f} |"
    trial = f"{costs.trial_bytes / 1e3:.1f}"
    yield f"| in a pool's ledger: a trial, KB | {trial} | {trial} |"
    yield f"| memory: a run with a call in flight, KB | | {costs.flight_bytes / 1e3:.0f} |"
    yield f"| memory: nothing in flight, MB | | {costs.base_bytes / 1e6:.0f} |"


def _told_rows(rows: Sequence[dict[str, float]]) -> Iterator[str]:
    yield "| in flight | calls/s | driver at work | delay p50, ms | p99, ms | workers at work |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        pair = (f"{row['in_flight']:,.0f}", f"{row['calls_per_second']:,.0f}")
        delays = (f"{row['delay_p50_ms']:,.1f}", f"{row['delay_p99_ms']:,.1f}")
        rest = (f"{row['utilisation']:.0%}", *delays, f"{row['busy_workers']:,.0f}")
        yield f"| {' | '.join((*pair, *rest))} |"


def _told_plan(plan: dict[str, float]) -> Iterator[str]:
    yield (
        f"One driver saturates at {plan['saturates_at']:,.0f} calls/s, with"
        f" {plan['with_in_flight']:,.0f} in flight."
    )
    yield (
        f"{plan['calls']:,.0f} calls are {plan['calls_per_second']:,.0f} calls/s:"
        f" {counted(round(plan['shards']), 'shard')} at {HEAD_ROOM:.0%} of that or less, each with"
        f" {plan['in_flight_each']:,.0f} in flight and {plan['memory_mb_each']:,.0f} MB."
    )
    yield (
        f"{plan['processor_hours']:,.1f} hours of drivers' processors, {plan['journal_gb']:,.1f} GB"
        f" of journals; a trial of each task is {plan['ledger_gb']:,.1f} GB of a pool's ledger."
    )


if __name__ == "__main__":
    main()
