"""What is measured of this project alone: loading, and a call that never answers."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from coterie.runtime import Calls, Context, Gateway, Toolbox, compile, perform
from coterie.runtime.jail import Jails
from coterie.schema import Agent, Catalogue, Model, Task, Team, load_team

if TYPE_CHECKING:
    from collections.abc import Callable

DEBATE = Path(__file__).parents[2] / "seeds" / "debate.yaml"
HANG_SECONDS = 2.0


@dataclass(frozen=True)
class Measure:
    """A number with its bound.

    Attributes:
        name: What was measured.
        value: The median.
        unit: `s`, `ms`, `MB`, or empty for a ratio.
        target: The most that it may be.
    """

    name: str
    value: float
    unit: str
    target: float

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return f"{self.value:.2f} {self.unit}".strip()

    @property
    def verdict(self) -> str:
        """Whether the bound holds."""
        return "met" if self.value <= self.target else "missed"


def alone(api_base: str) -> list[Measure]:
    """Measure what has no peer. `api_base` is the simulator's."""
    return [
        Measure("validate and compile the debate, CPU", _load_and_compile() * 1000, "ms", 15.0),
        Measure(f"a hung call, timeout {HANG_SECONDS:g} s", _hang(api_base), "s", HANG_SECONDS + 1),
    ]


def _repeated(measure: Callable[[], float], times: int = 7) -> float:
    return median(measure() for _ in range(times))


def _load_and_compile() -> float:
    """Processor seconds from a file to a plan, in a process that has done it before."""
    known = Catalogue.of_host()

    def once() -> float:
        started = time.process_time()
        compile(load_team(DEBATE, known), known)
        return time.process_time() - started

    once()
    return _repeated(once, times=21)


def _hang(api_base: str) -> float:
    """Seconds until a run ends whose only agent is never answered."""
    models = {"default": Model(alias="default", model="sim-0", api_base=api_base)}
    prompt = "You are [[a=solo]] in run [[r=hang]]. [[hang=solo]]"
    agent = Agent(id="solo", prompt=prompt, timeout=HANG_SECONDS)
    plan = compile(Team(name="hang", agents={"solo": agent}), Catalogue.of_host(models=models))

    async def run() -> float:
        async with Gateway(models) as gateway, Toolbox() as toolbox:
            started = time.monotonic()
            task = Task(id="hang", query="Will you answer?")
            await perform(
                plan, task, Context(calls=Calls(gateway=gateway), jails=Jails(), toolbox=toolbox)
            )
            return time.monotonic() - started

    return asyncio.run(run())
