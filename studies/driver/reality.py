"""The engine beside the simulation: as many calls in flight, at the same latency, here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from .costs import chains, model_server
from .simulation import Load, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .simulation import Service

BAND = 0.15
"""By how much the engine's throughput may differ from what was predicted."""
LENGTH = 6
SECONDS = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A load that was predicted and measured.

    Attributes:
        in_flight: Calls at once.
        predicted: Calls per second of the simulation.
        measured: Calls per second of the engine.
        processor: The share of the measured time in which this process had a processor.
    """

    in_flight: int
    predicted: float
    measured: float
    processor: float

    @property
    def difference(self) -> float:
        """What was measured, less what was predicted, as a share of that."""
        return self.measured / self.predicted - 1

    @property
    def holds(self) -> bool:
        """Whether the prediction is good."""
        return abs(self.difference) <= BAND


def compared(
    service: Service, in_flight: Sequence[int], *, recorded: bool, seconds: float = SECONDS
) -> list[Point]:
    """Run chains of agents and the simulation of them.

    Args:
        service: What the driver's work takes.
        in_flight: How many chains at once, for each point.
        recorded: Whether the runs are kept.
        seconds: How long a call takes.

    Raises:
        RunError: A run failed.
    """
    return [_compared(service, number, recorded, seconds) for number in in_flight]


def _compared(service: Service, number: int, recorded: bool, seconds: float) -> Point:
    load = Load(in_flight=number, latency=seconds, spread=0.0, calls_per_run=LENGTH)
    calls = number * LENGTH
    # All begin at once, and none is left out: what they cost to begin with counts on both sides.
    predicted = calls / simulate(service, load, calls=calls).seconds
    with model_server() as api_base, TemporaryDirectory(prefix="coterie-runs-") as scratch:
        runs = Path(scratch) if recorded else None
        spent = asyncio.run(
            chains(api_base, length=LENGTH, times=number, seconds=seconds, runs=runs)
        )
    return Point(
        in_flight=number,
        predicted=predicted,
        measured=calls / spent.wall,
        processor=spent.cpu / spent.wall,
    )
