"""What a driver's work costs, measured on this machine in a few seconds: processor time and bytes.

The engine runs chains of agents over a simulated model on this machine, which answers at once, in
two lengths: what does not grow with the length is of the run, and the rest of its calls. With a
record, each run is kept as `mas-run` keeps it. A jail is opened, runs a command, and is closed.
Each is measured several times, and the least counts: whatever else a machine does adds to it.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from coterie.pool.ledger.changes import Evaluated
from coterie.pool.ledger.ledger import line_of
from coterie.pool.values.statistics import Trial
from coterie.runtime import Calls, Context, Gateway, Setting, Toolbox, Trace, compile, perform
from coterie.runtime.command.signals import collecting_seldom
from coterie.runtime.jail import Jails
from coterie.runtime.jail.code.shell import Shell
from coterie.runtime.jail.detect import detect
from coterie.runtime.runs.record import RunRecord
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Catalogue, Execution, Model, RunError, Task, Team

from .simulation import Service

if TYPE_CHECKING:
    from collections.abc import Generator

    from coterie.runtime import Plan

SIMULATOR = Path(__file__).parents[1] / "engine" / "simulator.py"
SHORT, LONG = 2, 12
AT_ONCE = 200
"""Runs at once: what they share, such as a commit of the journal, is shared as under load; and what
a call takes more among many others, it takes here, too."""
TIMES = 3
JAILS = 5
IN_FLIGHT = 200
"""Runs by which it is measured what each takes in memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Costs:
    """What work costs.

    Attributes:
        call: Seconds of processor time of one call of an unrecorded run.
        run: Seconds of one unrecorded run beside its calls.
        recorded_call: Seconds of one call of a recorded run.
        recorded_run: Seconds of one recorded run beside its calls.
        jail: Seconds of this process for opening a jail, running a command in it, and closing it;
            0 where this machine has no jail.
        call_bytes: What one recorded call leaves on disk.
        run_bytes: What one recorded run leaves there beside its calls.
        trial_bytes: What one trial leaves in the ledger of a pool.
        flight_bytes: Memory of one more recorded run, with a call in flight.
        base_bytes: Memory of a driver with nothing in flight.
    """

    call: float
    run: float
    recorded_call: float
    recorded_run: float
    jail: float
    call_bytes: float
    run_bytes: float
    trial_bytes: float
    flight_bytes: float
    base_bytes: float

    def service(self, *, recorded: bool) -> Service:
        """Return the service times of a driver, with a record or without one."""
        if recorded:
            return Service(call=self.recorded_call, run=self.recorded_run, jail=self.jail)
        return Service(call=self.call, run=self.run, jail=self.jail)


DOCUMENTED = Costs(
    call=0.00049,
    run=0.00003,
    recorded_call=0.00108,
    recorded_run=0.00651,
    jail=0.0054,
    call_bytes=4_810,
    run_bytes=10_100,
    trial_bytes=272,
    flight_bytes=236_000,
    base_bytes=52.9e6,
)
"""As measured for docs/research/driver.md, so that its numbers can be made again on any machine."""


def measured(*, at_once: int = AT_ONCE, in_flight: int = IN_FLIGHT) -> Costs:
    """Measure all of it.

    Args:
        at_once: How many runs there are at once, for the processor's time.
        in_flight: The same, for memory.

    Raises:
        RunError: A run failed.
    """
    return asyncio.run(_measured(at_once, in_flight))


async def _measured(at_once: int, in_flight: int) -> Costs:
    with model_server() as api_base, TemporaryDirectory(prefix="coterie-runs-") as scratch:
        kept = {name: _made(Path(scratch), name) for name in ("warm", str(SHORT), str(LONG))}
        await chains(api_base, length=1, times=1, runs=kept["warm"])
        base = _peak()
        await chains(api_base, length=1, times=in_flight, seconds=0.5, runs=kept["warm"])
        flight = max(0.0, _peak() - base) / in_flight
        table = {
            (length, recorded): await _each(
                api_base, length, at_once, kept[str(length)] if recorded else None
            )
            for length in (SHORT, LONG)
            for recorded in (False, True)
        }
        runs = TIMES * (at_once + 1)  # with those that warm up
        sizes = {length: _size(kept[str(length)]) / runs for length in (SHORT, LONG)}
    calls = {
        holds: (table[LONG, holds] - table[SHORT, holds]) / (LONG - SHORT)
        for holds in (False, True)
    }
    beside = {call: max(0.0, table[SHORT, call] - SHORT * calls[call]) for call in calls}
    of_call = (sizes[LONG] - sizes[SHORT]) / (LONG - SHORT)
    return Costs(
        call=calls[False],
        run=beside[False],
        recorded_call=calls[True],
        recorded_run=beside[True],
        jail=_jail(),
        call_bytes=of_call,
        run_bytes=max(0.0, sizes[SHORT] - SHORT * of_call),
        trial_bytes=_trial(),
        flight_bytes=flight,
        base_bytes=base,
    )


async def _each(api_base: str, length: int, at_once: int, runs: Path | None) -> float:
    """Return the processor seconds of one of several chains."""
    spent = [
        (await chains(api_base, length=length, times=at_once, runs=runs)).cpu for _ in range(TIMES)
    ]
    return min(spent) / at_once


def _made(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What some runs took: seconds, and seconds of this process's processor time."""

    wall: float
    cpu: float


async def chains(
    api_base: str, *, length: int, times: int, seconds: float = 0.0, runs: Path | None = None
) -> Spent:
    """Run chains of agents at once, each of whose calls takes so long.

    Args:
        api_base: The simulated model.
        length: Agents of a chain, one after the other.
        times: How many chains.
        seconds: How long a call takes.
        runs: The folder in which runs are kept, which is there. None: they are not.

    Raises:
        RunError: One had no answer.
    """
    plan = _plan(api_base, length, seconds)
    models = {"default": Model(alias="default", model=_model(seconds), api_base=api_base)}
    async with Gateway(models) as gateway, Toolbox() as toolbox:
        await _run(plan, gateway, toolbox, "first", runs)
        started, used = time.perf_counter(), time.process_time()
        names = [f"r{number}" for number in range(times)]
        with collecting_seldom():  # as commands do
            await asyncio.gather(*(_run(plan, gateway, toolbox, name, runs) for name in names))
        return Spent(wall=time.perf_counter() - started, cpu=time.process_time() - used)


def _plan(api_base: str, length: int, seconds: float) -> Plan:
    names = [f"c{number}" for number in range(length)]
    agents = {name: Agent(id=name, prompt=f"You are [[a={name}]].") for name in names}
    team = Team(
        name="chain",
        agents=agents,
        reports_to={name: (other,) for name, other in pairwise(names)},
        declared_output=names[-1],
        execution=Execution(timeout=600),
    )
    models = {"default": Model(alias="default", model=_model(seconds), api_base=api_base)}
    return compile(team, Catalogue.of_host(models=models))


def _model(seconds: float) -> str:
    return f"sim-{seconds * 1000:g}"


async def _run(
    plan: Plan, gateway: Gateway, toolbox: Toolbox, name: str, runs: Path | None
) -> None:
    task = Task(id=name, query=f"Task [[r={name}]]: what is six times seven?")
    if runs is None:
        calls, trace = Calls(gateway=gateway), Trace()
        context = Context(calls=calls, jails=Jails(), toolbox=toolbox, trace=trace)
        result = await perform(plan, task, context)
    else:
        async with RunRecord.begin(runs, plan, task, Setting(), scrub=Scrubber()) as record:
            calls = Calls(gateway=gateway, journal=record.journal)
            trace = Trace(record.folder)
            context = Context(calls=calls, jails=Jails(), toolbox=toolbox, trace=trace)
            result = await perform(plan, task, context)
            record.finish(result)
    if result.answer is None:
        raise RunError(f"a run of the measurement had no answer: {result.error}")


def _trial() -> float:
    """Bytes of the line of a trial, with what is usual in one."""
    usage = Usage(calls=10, prompt_tokens=9_000, completion_tokens=900, usd=0.01)
    trial = Trial(task="task_000001", score=0.5, niche="a_niche", usage=usage, run="0" * 16)
    return float(
        len(line_of(Evaluated(member="debate_3_k3x7qd", trial=trial).value(), "town/000001/0"))
    )


def _jail() -> float:
    """Seconds of this process for a jail."""
    if detect().tier is None:
        return 0.0
    seconds: list[float] = []
    for _ in range(JAILS):
        with TemporaryDirectory(prefix="coterie-jail-") as work:
            used = time.process_time()
            with Jails().open(Path(work)) as jail:
                Shell(jail).run("true")
            seconds.append(time.process_time() - used)
    return min(seconds)


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def _size(folder: Path) -> float:
    return float(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


@contextmanager
def model_server() -> Generator[str]:
    """Serve the simulated model in a process of its own; give its address."""
    command = [sys.executable, str(SIMULATOR)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - asked for above
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()
