"""What work costs, measured so that no verdict depends on how fast the machine is.

The unit of cost is one run of a fixed reference workload, about 5 ms of CPU on a machine of 2025.
It is measured in the same process and, where work seems too dear, at the same moment, so that a
slow or busy machine slows down both. `growth` needs no unit: it compares work with more of it.

No other test reads a clock of the CPU; `test_project` checks that. Where the code has something to
count (calls, steps, bytes), count that instead.
"""

from __future__ import annotations

import gc
import json
import math
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

LINEAR = 2.5
"""How many times the cost of an input twice the input may cost. Quadratic work has 4."""
REPETITIONS = 4
"""Of both sizes in turn: the best counts, so that a busy moment does not."""
ATTEMPTS = 3
"""Of work that seems to cost too much."""
FRESH = 0.25
"""Seconds for which a measurement of the reference is of the same moment."""

TEXT = "The quick brown fox jumps over the lazy dog, 42 times a day.\n"
PAIR = re.compile(r"(\w+) (?:fox|dog|times)\b")


UNITS: list[float] = []
"""What was measured in this process so far."""

T = TypeVar("T")


class TooDear(AssertionError):
    """Work took more effort than it may, at least this time."""


@dataclass
class Cost:
    """What a block of code cost.

    Attributes:
        seconds: Of CPU, of all threads of this process.
    """

    seconds: float = 0.0

    @property
    def units(self) -> float:
        """The same in runs of the reference at this moment."""
        return self.seconds / unit()

    def within(self, most: float) -> bool:
        """Return whether it is at most so many units.

        The fastest run of the reference so far tells of what costs little; only where it does not,
        the reference runs again.
        """
        return self.seconds <= most * _fastest_unit() or self.units <= most


@contextmanager
def measured() -> Generator[Cost]:
    """Measure what a `with` block costs. Full garbage collections do not count."""
    cost = Cost()
    with clock() as cpu:
        begun = cpu.of_process()
        yield cost
        cost.seconds = cpu.of_process() - begun


def unit() -> float:
    """Return the seconds of CPU that one run of the reference takes at this moment."""
    return _unit_in(int(time.monotonic() / FRESH))


def retried(work: Callable[[], T]) -> T:
    """Return what work returns, which may be too dear a few times, but not each time.

    A short step seems long when the machine halts in the middle of it. What the code itself makes
    long is so in each attempt.

    Raises:
        TooDear: The last attempt was too dear, like all before it.
    """
    for _ in range(ATTEMPTS - 1):
        with suppress(TooDear):
            return work()
    return work()


def growth(prepare: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times as much work on twice the input costs: 2 for linear work.

    Only what `prepare` returns is measured, as often in a row as takes it well above noise.

    Args:
        prepare: Makes an input of a size, and returns the work on it.
        size: Of the smaller input. What grows must outweigh what does not at this size.
    """
    ratios: list[float] = []
    with clock() as cpu:
        small, large = prepare(size), prepare(2 * size)
        times = 1
        while _seconds(cpu, small, times) < _fastest_unit() / 2:
            times *= 2
        for _ in range(3 * ATTEMPTS):
            pairs = [
                (_seconds(cpu, small, times), _seconds(cpu, large, times))
                for _ in range(REPETITIONS)
            ]
            ratios.append(min(pair[1] for pair in pairs) / min(pair[0] for pair in pairs))
            if ratios[-1] <= LINEAR:
                break
    return min(ratios)


class Clock:
    """Seconds of CPU without full garbage collections.

    They go over everything that earlier tests left, whatever the work is.
    """

    def __init__(self) -> None:
        self._collected: dict[int, float] = defaultdict(float)
        self._collecting_since = 0.0

    def of_thread(self) -> float:
        """Return the seconds of the current thread."""
        return time.thread_time() - self._collected.get(threading.get_ident(), 0.0)

    def of_process(self) -> float:
        """Return the seconds of all threads."""
        return time.process_time() - math.fsum(list(self._collected.values()))

    def heed(self, phase: str, info: dict[str, int]) -> None:
        """Leave out a collection: a callback for `gc`."""
        if info["generation"] < 2:
            return
        if phase == "start":
            self._collecting_since = time.thread_time()
        else:
            took = time.thread_time() - self._collecting_since
            self._collected[threading.get_ident()] += took


@contextmanager
def clock() -> Generator[Clock]:
    """Give a clock that leaves out the full collections within a `with` block."""
    cpu = Clock()
    gc.callbacks.append(cpu.heed)
    try:
        yield cpu
    finally:
        gc.callbacks.remove(cpu.heed)


def reference() -> int:
    """Do the work that is the unit: arithmetic, dicts, texts, JSON and a regular expression."""
    counts: dict[str, int] = {}
    for number in range(10_000):
        name = f"n{number % 500}"
        counts[name] = counts.get(name, 0) + number * number % 7
    rows = [{"name": name, "of": [count, None, 0.5]} for name, count in counts.items()]
    read = json.loads(json.dumps(rows * 2))
    read.sort(key=lambda row: (row["of"][0], row["name"]))
    return len(read) + sum(len(match[1]) for match in PAIR.finditer(TEXT * 500))


@lru_cache(maxsize=1)
def _unit_in(_period: int) -> float:
    with clock() as cpu:
        UNITS.append(min(_seconds(cpu, reference, 1) for _ in range(3)))
    return UNITS[-1]


def _fastest_unit() -> float:
    return min(UNITS) if UNITS else unit()


def _seconds(cpu: Clock, work: Callable[[], object], times: int) -> float:
    begun = cpu.of_thread()
    for _ in range(times):
        work()
    return cpu.of_thread() - begun


if __name__ == "__main__":
    sys.stdout.write(f"{1000 * unit():.1f} ms of CPU for one run of the reference\n")
