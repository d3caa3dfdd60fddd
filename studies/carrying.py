"""How many model calls one process carries: alone, with a journal, and as runs of teams.

The process that calls has one core, and the simulated model another, where the system can say so.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from coterie.runtime import Calls, Context, Gateway, Journal, Toolbox, compile, perform
from coterie.runtime.command.signals import collecting_seldom
from coterie.runtime.gateway import ChatRequest
from coterie.runtime.jail import Jails
from coterie.schema import Agent, Catalogue, Execution, Model, Task, Team

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

SIMULATOR = Path(__file__).parent / "engine" / "simulator.py"
WORDS = "The reasoning is short, and the conclusion follows from what was said before. " * 18
"""What a call asks: as much as an agent of a debate reads."""
LOOKS = 0.1
"""Seconds between looks at the memory."""
BUSY = 0.9
"""The share of its core from which the process is the limit."""
VOTERS = 7
"""Agents of a team that votes; the last one waits for the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What is asked of the process.

    Attributes:
        way: `calls`, `journal` for calls that are recorded, or `votes` for runs of teams.
        in_flight: Calls that wait for their answers at once, at most.
        seconds: The latency of the model.
        rounds: How often each place in flight is used.
        is_searched_often: Whether garbage is searched for as Python does by itself, not as commands
            do.
    """

    way: str
    in_flight: int
    seconds: float
    rounds: int
    is_searched_often: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.way}, garbage searched often" if self.is_searched_often else self.way


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """The result.

    Attributes:
        calls: Model calls that were answered.
        most: Calls that waited for their answers at once.
        wall: Seconds.
        cpu: Processor seconds of the process.
        peak: Its memory in MB, at most.
        model: Processor seconds of the simulated model.
    """

    calls: int
    most: int
    wall: float
    cpu: float
    peak: float
    model: float

    @property
    def limit(self) -> str:
        """What held it back."""
        if self.cpu >= BUSY * self.wall:
            return "its core"
        return "the simulated model's core" if self.model >= BUSY * self.wall else "the latency"


def loads(in_flight: int, seconds: float) -> list[Load]:
    """Return what is measured: a model that takes no time, then one that takes so long."""
    return [
        Load(way="calls", in_flight=64, seconds=0.0, rounds=max(1, in_flight // 32)),
        *(
            Load(
                way=way,
                in_flight=in_flight,
                seconds=seconds,
                rounds=4,
                is_searched_often=is_searched_often,
            )
            for way, is_searched_often in (
                ("calls", True),
                ("calls", False),
                ("journal", False),
                ("votes", False),
            )
        ),
    ]


def carried(load: Load) -> Carried:
    """Measure a load in a process of its own, with a simulated model of its own."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with _simulator(cores[-1:]) as (port, model):
        address = f"http://127.0.0.1:{port}/v1"
        asked = json.dumps({**asdict(load), "api_base": address, "cores": cores[:1]})
        ran = subprocess.run(
            [sys.executable, "-m", __spec__.name, asked],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return Carried(**json.loads(ran.stdout), model=_processor(model))


def resident() -> float:
    """Return the memory that the process has now, in MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def table(measured: list[tuple[Load, Carried]]) -> str:
    """Write the table of docs/research/performance.md."""
    lines = [
        "| what | in flight | latency | calls/s | CPU ms/call | calls/s of a core | peak RSS MB |"
        " the limit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {load.name} | {item.most:,} | {load.seconds:g} s | {item.calls / item.wall:,.0f} |"
        f" {item.cpu / item.calls * 1000:.2f} | {item.calls / item.cpu:,.0f} | {item.peak:.0f} |"
        f" {item.limit} |"
        for load, item in measured
    ]
    return "\n".join(lines)


async def _measured(load: Load, api_base: str) -> dict[str, float]:
    """Put the load on this process."""
    name = f"sim-{load.seconds * 1000:g}"
    models = {"default": Model(alias="default", model=name, api_base=api_base, timeout=600)}
    with TemporaryDirectory(prefix="carried-") as folder:
        async with Counting(models) as gateway, Toolbox() as toolbox:
            with Journal.open(Path(folder)) as journal:
                calls = Calls(gateway=gateway, journal=journal if load.way == "journal" else None)
                context = Context(calls=calls, jails=Jails(), toolbox=toolbox)
                once, places = _ways(load, context, models)
                await once()  # warms up
                gateway.calls = gateway.most = 0
                sizes: list[float] = [resident()]
                looking = asyncio.create_task(_look(sizes))
                wall, cpu = time.monotonic(), time.process_time()
                step = load.seconds / places  # so that answers do not all come at once
                await asyncio.gather(
                    *(_repeat(once, load.rounds, step * number) for number in range(places))
                )
                wall, cpu = time.monotonic() - wall, time.process_time() - cpu
                looking.cancel()
    return {
        "calls": gateway.calls, "most": gateway.most, "wall": wall, "cpu": cpu, "peak": max(sizes)
    }  # fmt: skip


class Counting(Gateway):
    """A gateway that counts the calls that it answers, and those that wait at once."""

    calls = waiting = most = 0

    async def chat(self, *asked: Any, **how: Any) -> Any:
        """Ask a model; see `Gateway.chat`."""
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        try:
            return await super().chat(*asked, **how)
        finally:
            self.waiting -= 1
            self.calls += 1


def _ways(
    load: Load, context: Context, models: dict[str, Model]
) -> tuple[Callable[[], Awaitable[object]], int]:
    """Return what is done again and again, and how often at once."""
    number = count()
    if load.way == "votes":
        plan = compile(_vote(), Catalogue.of_host(models=models))

        async def vote() -> None:
            run = await perform(plan, Task(id=f"task-{next(number)}", query=WORDS), context)
            if run.error is not None:
                raise RuntimeError(f"a run failed: {run.error}")

        return vote, max(1, load.in_flight // (VOTERS - 1))

    async def call() -> None:
        messages = [
            {"role": "system", "content": "You solve tasks."},
            {"role": "user", "content": WORDS},
        ]
        request = ChatRequest(model="default", messages=messages, patience=600)
        await context.calls.chat(f"agent/attempt 1/call {next(number)}", request, _unheard)

    return call, load.in_flight


def _vote() -> Team:
    voters = [f"voter_{number}" for number in range(1, VOTERS)]
    return Team(
        name="vote",
        agents={
            name: Agent(id=name, prompt=f"You are {name}.", model_id="default")
            for name in (*voters, "judge")
        },
        reports_to=dict.fromkeys(voters, ("judge",)),
        declared_output="judge",
        execution=Execution(timeout=600),
    )


def _unheard(_event: str, /, **_fields: Any) -> None:
    """Note nothing."""


async def _repeat(once: Callable[[], Awaitable[object]], rounds: int, wait: float) -> None:
    await asyncio.sleep(wait)
    for _ in range(rounds):
        await once()


async def _look(sizes: list[float]) -> None:
    while True:
        await asyncio.sleep(LOOKS)
        sizes.append(resident())


@contextmanager
def _simulator(cores: list[int]) -> Generator[tuple[int, subprocess.Popen[str]]]:
    command = [sys.executable, str(SIMULATOR)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - asked for above
        if cores:
            os.sched_setaffinity(process.pid, cores)
        try:
            yield int(process.stdout.readline()), process
        finally:
            process.kill()


def _processor(process: subprocess.Popen[str]) -> float:
    """Return the processor seconds of a process, where the system tells them."""
    path = Path(f"/proc/{process.pid}/stat")
    if not path.exists():
        return 0.0
    user, system = path.read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _main(asked: str) -> None:
    """Measure one load, and print it; each call in flight has a connection, which is a file."""
    wanted = json.loads(asked)
    cores, api_base = wanted.pop("cores"), wanted.pop("api_base")
    if cores:
        os.sched_setaffinity(0, cores)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    load = Load(**wanted)
    with nullcontext() if load.is_searched_often else collecting_seldom():
        print(json.dumps(asyncio.run(_measured(load, api_base))))  # noqa: T201 - read back


if __name__ == "__main__":
    _main(sys.argv[1])
