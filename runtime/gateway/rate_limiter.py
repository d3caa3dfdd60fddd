"""Limits shared by all calls of one model at one address: slots, pauses, a circuit breaker."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .breaker import Breaker
from .chat.errors import CallError
from .concurrency import Slots
from .pacing import Pacing

T = TypeVar("T")


class RateLimiter:
    """Decides when a call may be sent, and learns from its outcome.

    Args:
        jitter: The source of randomness for waits.
        clock: Returns the time in seconds; only differences matter.

    Attributes:
        pacing: Schedules calls after a failure.
        breaker: Rejects calls while the endpoint is out.
    """

    def __init__(
        self, name: str, jitter: random.Random, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
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
