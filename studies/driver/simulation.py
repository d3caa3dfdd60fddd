"""A driver as a queue: one processor that deals with answers, one after the other.

The rules were fixed ahead of the results in docs/research/driver.md, but for two. What a call costs
was measured among twenty others until it was seen to take a third more among hundreds; and the
last one said a fifth until a queue for workers was seen to fill more slowly:

1. A driver is one processor. It does one thing at a time, in the order in which things come up, as
   the loop of an asyncio process does.
2. So many calls are in flight. When an answer is there, the driver deals with it and sends the next
   request, which is one piece of work; so the number in flight stays (a closed queue).
3. That piece takes what a call costs among 200 others; one in `calls_per_run` also takes what a run
   costs.
4. An answer takes `latency` seconds on the mean, spread as a lognormal distribution of the
   coefficient of variation `spread`; 0: always the same. The model serves any number at once.
5. A share of the answers is code. It is executed for `code_seconds` by one of `workers`, who take
   what waits in the order in which it came; the driver pays what a jail costs, and then deals with
   the result as with an answer.
6. The driver's work takes the same time each time. What it waits for beside its work, such as the
   disk, is not in the model: journals are written by threads of their own.
7. The first half of the calls is not counted, so that all queues have filled.

A prediction of throughput is good if it is within 15 % of the real engine's (`reality`).
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGINNING = 0.5
"""The share of the calls that are not counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """What the driver's processor does, in seconds.

    Attributes:
        call: For one call: ahead of its request, and behind its answer.
        run: For one run beside its calls: its folder, its plan, its result.
        jail: For one piece of code that somebody executes.
    """

    call: float
    run: float = 0.0
    jail: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What a driver is to carry.

    Attributes:
        in_flight: Calls at once.
        latency: Seconds that an answer takes, on the mean.
        spread: The coefficient of variation of that.
        calls_per_run: Calls of one run.
        code: The share of answers that are code.
        code_seconds: How long code takes.
        workers: How many pieces of code are executed at once.
    """

    in_flight: int
    latency: float
    spread: float = 0.5
    calls_per_run: int = 10
    code: float = 0.0
    code_seconds: float = 1.0
    workers: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The result of a load.

    Attributes:
        rate: Calls per second.
        utilisation: The share of the time in which the driver was at work.
        delays: How long each answer waited for the driver, in seconds, in order of size.
        busy_workers: How many workers were at work, on the mean.
        seconds: How long the whole of it took.
    """

    rate: float
    utilisation: float
    delays: Sequence[float]
    busy_workers: float
    seconds: float


def simulate(service: Service, load: Load, *, calls: int, seed: int = 0) -> Outcome:
    """Let a driver carry a load; see the rules of the module.

    Args:
        service: What its work takes.
        load: The load.
        calls: After how many calls it ends.
        seed: What latencies are drawn by.
    """
    chance = Random(seed)  # noqa: S311 - draws latencies
    return _Driver(service, load, chance).carry(calls)


def saturation(service: Service, load: Load) -> tuple[float, float]:
    """Return what a driver carries at most: calls per second, and how many are in flight then.

    Beyond them answers wait, and no more is done.
    """
    own = work(service, load)
    cycle = load.latency + load.code * load.code_seconds + own
    rate = 1 / own
    if load.code:
        rate = min(rate, load.workers / (load.code * load.code_seconds))
    return rate, rate * cycle


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that so large a share of sorted values is not above."""
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else 0.0


def work(service: Service, load: Load) -> float:
    """Seconds of the driver's for a call, on the mean, with its share of the run and of code."""
    return service.call + service.run / load.calls_per_run + load.code * service.jail


class _Driver:
    """One pass of the simulation. Events are `(time, number, is it the result of code)`."""

    def __init__(self, service: Service, load: Load, chance: Random) -> None:
        self._service, self._load, self._chance = service, load, chance
        self._sigma = math.sqrt(math.log1p(load.spread**2))
        self._events: list[tuple[float, int, bool]] = []
        self._waiting = deque[float]()
        self._number = 0
        self._workers = load.workers
        self._worked = 0.0

    def carry(self, calls: int) -> Outcome:
        delays, begun, busy, free, asked = list[float](), 0.0, 0.0, 0.0, 0
        for _ in range(self._load.in_flight):
            free += self._work_of(asked)
            asked += 1
            self._ask(free)
        done, uncounted = 0, int(calls * BEGINNING)
        while done < calls:
            now, _, is_result = heapq.heappop(self._events)
            if is_result:
                self._next_of_workers(now)
            start = max(now, free)
            took = self._work_of(asked)
            if not is_result and self._chance.random() < self._load.code:
                took = self._service.jail
                free = start + took
                self._execute(free)
            else:
                free = start + took
                asked += 1
                done += 1
                self._ask(free)
            if done <= uncounted:
                begun, busy, self._worked = free, 0.0, 0.0
                continue
            busy += took
            delays.append(start - now)
        span = free - begun
        return Outcome(
            rate=(done - uncounted) / span,
            utilisation=busy / span,
            delays=sorted(delays),
            busy_workers=self._worked / span,
            seconds=free,
        )

    def _work_of(self, number: int) -> float:
        is_first = number % self._load.calls_per_run == 0
        return self._service.call + (self._service.run if is_first else 0)

    def _ask(self, now: float) -> None:
        self._push(now + self._latency(), is_result=False)

    def _latency(self) -> float:
        mean = self._load.latency
        if not self._sigma or not mean:
            return mean
        return self._chance.lognormvariate(math.log(mean) - self._sigma**2 / 2, self._sigma)

    def _execute(self, now: float) -> None:
        if self._workers:
            self._workers -= 1
            self._begin(now)
        else:
            self._waiting.append(now)

    def _next_of_workers(self, now: float) -> None:
        if self._waiting:
            self._waiting.popleft()
            self._begin(now)
        else:
            self._workers += 1

    def _begin(self, now: float) -> None:
        self._worked += self._load.code_seconds
        self._push(now + self._load.code_seconds, is_result=True)

    def _push(self, at: float, *, is_result: bool) -> None:
        self._number += 1
        heapq.heappush(self._events, (at, self._number, is_result))
