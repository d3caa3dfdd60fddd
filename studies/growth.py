"""How what we cost by ourselves grows: `python -m studies.growth`.

Each curve is measured at several sizes, in processor seconds of this process, no model waited for.
Its exponent is that of the last step: 1 is linear.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from coterie.pool.teams.pool import Pool
from coterie.runtime.calls.calls import Calls
from coterie.runtime.engine.engine import Context, execute
from coterie.runtime.jail import Jails
from coterie.runtime.plan.plan import compile
from coterie.runtime.record.trace import Trace
from coterie.runtime.runs.record import RunRecord
from coterie.runtime.runs.services import Setting
from coterie.runtime.runs.whole import perform
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.tools import Toolbox
from coterie.schema.command import Command
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import DEFAULT_ALIAS, Model
from coterie.schema.team.task import Task
from coterie.schema.team.team import Agent, Team

from .growing import grow
from .memory.__main__ import SEARCHES, WANTED, filled
from .pages import large_evaluation, large_pool, page_times
from .throughput import Immediate, measured, some_tasks
from .world.builders import MODELS
from .world.gateway import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = (8, 16)
TEAMS = 20
TRIALS_PER_TEAM = 10
ANSWERING = {DEFAULT_ALIAS: Model(alias=DEFAULT_ALIAS, model="none")}
TASK = Task(id="t", query="What is six times seven?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """What is measured at which sizes; `measure` takes an empty folder and a size."""

    name: str
    sizes: tuple[int, ...]
    measure: Callable[[Path, int], float]


@click.command(cls=Command)
@click.option("--quick", is_flag=True, help="Small sizes: does everything work?")
@click.option("--most", type=click.IntRange(min=1), help="Leave out larger sizes.")
def main(*, quick: bool, most: int | None) -> None:
    """Measure how costs grow with tasks, agents, ledgers, memories and pages; print Markdown."""
    click.echo("| what | size: seconds of the processor | exponent |\n|---|---|---|")
    for curve in CURVES:
        sizes = QUICK if quick else [size for size in curve.sizes if size <= (most or math.inf)]
        if len(sizes) > 1:
            click.echo(_row(curve, sizes))


def exponent(smaller: tuple[int, float], larger: tuple[int, float]) -> float:
    """Return with which power of its size something grows, by two sizes and what each took."""
    return math.log(larger[1] / smaller[1]) / math.log(larger[0] / smaller[0])


def _row(curve: Curve, sizes: tuple[int, ...] | list[int]) -> str:
    points = [(size, _seconds(curve, size)) for size in (sizes[0], *sizes)][1:]  # imports first
    cells = "; ".join(f"{size:,}: {seconds:.4f}" for size, seconds in points)
    return f"| {curve.name} | {cells} | {exponent(*points[-2:]):.2f} |"


def _seconds(curve: Curve, size: int) -> float:
    with TemporaryDirectory() as folder:
        return curve.measure(Path(folder), size)


def _used(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _tasks(folder: Path, size: int) -> float:
    return asyncio.run(measured(folder, some_tasks(None, size), replaying=False))["cpu"]


def _agents(folder: Path, size: int) -> float:
    """Check, compile and execute a vote of so many agents."""
    del folder
    team = _vote(size)

    async def run() -> None:
        plan = compile(team, Catalogue.of_host(models=ANSWERING))
        calls = Calls(gateway=Immediate(ANSWERING))
        await execute(plan, TASK, Context(calls=calls, jails=Jails(), toolbox=Toolbox()))

    return _used(lambda: asyncio.run(run()))


def _vote(size: int) -> Team:
    *voters, judge = (Agent(id=f"a{number}", prompt="Answer.") for number in range(size))
    return Team(
        name="vote",
        agents={agent.id: agent for agent in (*voters, judge)},
        reports_to={voter.id: (judge.id,) for voter in voters},
        declared_output=judge.id,
    )


def _ledger(folder: Path, size: int) -> float:
    """Open a pool for the first time, by all lines of its ledger."""
    grow(folder, TEAMS, size)
    return _used(lambda: Pool.open(folder, catalogue=catalogue(*MODELS)))


def _search(folder: Path, size: int) -> float:
    memory = filled(folder, size)
    memory.search("", 1)  # makes the index
    return median(_used(lambda: memory.search("", WANTED)) for _ in range(SEARCHES))


def _run_page(folder: Path, size: int) -> float:
    """Make the page of a recorded vote of so many agents."""

    async def run() -> Path:
        plan = compile(_vote(size), Catalogue.of_host(models=ANSWERING))
        async with RunRecord.begin(folder, plan, TASK, Setting(), scrub=Scrubber()) as record:
            calls = Calls(gateway=Immediate(ANSWERING), journal=record.journal)
            trace, jails, toolbox = Trace(record.folder), Jails(), Toolbox()
            context = Context(calls=calls, jails=jails, toolbox=toolbox, trace=trace)
            record.finish(await perform(plan, TASK, context))
        return record.folder.path

    made = asyncio.run(run())
    return _used(lambda: next(page_times(made, ())))


def _pool_page(folder: Path, size: int) -> float:
    large_pool(folder, size, TRIALS_PER_TEAM * size)
    return _used(lambda: next(page_times(folder, ())))


def _evaluation_page(folder: Path, size: int) -> float:
    with chdir(folder):
        large_evaluation(folder / "results", size)
    (evaluation,) = (folder / "results").iterdir()
    return _used(lambda: next(page_times(evaluation, ())))


CURVES = (
    Curve(name="an evaluation, by tasks", sizes=(10, 100, 1_000, 10_000), measure=_tasks),
    Curve(name="a run, by agents", sizes=(10, 32, 100, 256), measure=_agents),
    Curve(
        name="first opening of a pool, by lines",
        sizes=(1_000, 10_000, 100_000, 1_000_000),
        measure=_ledger,
    ),
    Curve(name="a search, by entries", sizes=(1_000, 10_000, 100_000), measure=_search),
    Curve(name="the page of a run, by agents", sizes=(10, 100, 256), measure=_run_page),
    Curve(name="the page of a pool, by teams", sizes=(10, 100, 1_000), measure=_pool_page),
    Curve(name="the page of an evaluation, by samples", sizes=(50, 500, 5_000),
          measure=_evaluation_page),
)  # fmt: skip


if __name__ == "__main__":
    main()
