"""Limits shared by all calls of one model at one address: slots, pauses, a circuit breaker."""

from __future__ import annotations

import asyncio
import bisect
import math
import random
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import TypeVar

from .breaker import Breaker
from .chat.errors import CallError
from .concurrency import Slots

T = TypeVar("T")

GAP = 0.06
"""Least seconds between two retried calls."""
SPREAD = 0.5
"""Seconds over which to spread the calls that waited because the endpoint asked one of them to."""


class Pacing:
    """Schedules the retries of one model's calls. Safe to use from several event loops."""

    def __init__(self, jitter: random.Random, *, clock: Callable[[], float]) -> None:
        self._jitter = jitter
        self._clock = clock
        self._held_until = -math.inf
        self._planned: list[float] = []
        self._lock = Lock()

    def hold(self, seconds: float) -> None:
        """Hold back all calls for as long as the endpoint asked one of them to wait."""
        self._held_until = max(self._held_until, self._clock() + seconds)

    @property
    def holds(self) -> bool:
        """Whether calls are held back."""
        return self._clock() < self._held_until

    async def passed(self) -> None:
        """Wait until calls are no longer held back."""
        while self.holds:  # noqa: ASYNC110 - until a moment that may move
            await asyncio.sleep(self.wait(SPREAD))

    def wait(self, spread: float, *, at_least: float = 0.0) -> float:
        """Schedule a call's return.

        Args:
            spread: The call returns at a random moment within this many seconds (full jitter), or
                later if that moment is taken.
            at_least: The least seconds to wait before that, if calls are not held back longer.

        Returns:
            Seconds until then.
        """
        now = self._clock()
        earliest = max(now + at_least, self._held_until)
        moment = earliest + self._jitter.uniform(0, spread)
        with self._lock:
            self._planned = [planned for planned in self._planned if planned > now - GAP]
            # In order of time: a call moved behind one return may be too close to the next.
            for planned in self._planned:
                if abs(planned - moment) < GAP:
                    moment = planned + GAP
            bisect.insort(self._planned, moment)
        return moment - now


class RateLimiter:
    """Decides when a call may be sent, and learns from its outcome."""

    def __init__(self, name: str, jitter: random.Random, *, clock: Callable[[], float]) -> None:
        self.slots = Slots()
        self.pacing = Pacing(jitter, clock=clock)
        self.breaker = Breaker(name, clock=clock)

    async def let_out(self, call: Callable[[], Awaitable[T]], *, patient: bool) -> T:
        """Make a call once it may be sent, and learn from its outcome.

        Args:
            patient: Whether to wait for the outcome of another call that probes the endpoint.

        Raises:
            CallError: The endpoint is out.
        """
        ticket = await self.let_in()
        try:
            probe = await self.breaker.admit(patient=patient)
            try:
                answer = await call()
            except CallError as error:
                self.learn(error, ticket, probe=probe)
                raise
            except BaseException:
                # A cancelled probe has to end as well: all others wait for it.
                self.breaker.undone(probe=probe)
                raise
            self.breaker.answered()
            self.slots.answered()
            return answer
        finally:
            self.slots.give_back()

    async def let_in(self) -> int:
        """Wait while calls are held back, then for a slot; hold no slot meanwhile.

        Returns:
            The ticket of the slot.
        """
        while True:
            if self.pacing.holds:
                await self.pacing.passed()
            ticket = await self.slots.take()
            # Calls may have been held back while this one waited for its slot.
            if not self.pacing.holds:
                return ticket
            self.slots.give_back()

    def learn(self, error: CallError, ticket: int, *, probe: bool) -> None:
        """Learn from a call's failure; the ticket tells when the call was sent."""
        if error.is_outage:
            self.breaker.failed(error, probe=probe)
        elif error.kind == "slow":
            self.breaker.undone(probe=probe)
        else:
            self.breaker.answered()
        if error.kind == "busy":
            self.slots.refused(ticket)
        if error.retry_after is not None:
            self.pacing.hold(error.retry_after)
