"""What all calls of one model at one address share: slots, pauses, and a circuit breaker."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .breaker import Breaker
from .concurrency import Slots
from .errors import CallError
from .pacing import Pacing

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

__all__ = ["Traffic"]


@dataclass(slots=True, eq=False)
class _Passage:
    """One call's way out; see `Traffic.passage`."""

    traffic: Traffic
    patient: bool
    ticket: int = 0
    probe: bool = False

    async def __aenter__(self) -> None:
        self.ticket = await self.traffic.let_in()
        if self.traffic.breaker.is_open:
            try:
                self.probe = await self.traffic.breaker.admit(patient=self.patient)
            except BaseException:
                self.traffic.slots.give_back()
                raise

    async def __aexit__(self, _kind: object, error: BaseException | None, _: object) -> None:
        traffic = self.traffic
        try:
            if error is None:
                traffic.breaker.answered()
                traffic.slots.answered()
            elif isinstance(error, CallError):
                traffic.learn(error, self.ticket, probe=self.probe)
            else:
                traffic.breaker.undone(probe=self.probe)
        finally:
            traffic.slots.give_back()


class Traffic:
    """Decides when a call may go out, and learns from how it ends.

    Args:
        name: The endpoint, for messages.
        jitter: Where the waits' randomness comes from.
        clock: Gives the time in seconds; only differences matter.

    Attributes:
        slots: Bounds the calls in flight.
        pacing: Plans when calls come back after a failure.
        breaker: Keeps calls away while the endpoint is out.
    """

    def __init__(
        self, name: str, jitter: random.Random, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.slots = Slots()
        self.pacing = Pacing(jitter, clock=clock)
        self.breaker = Breaker(name, clock=clock)

    def passage(self, *, patient: bool) -> AbstractAsyncContextManager[None]:
        """Let a call out when it may go; what the body raises tells how it ended.

        Args:
            patient: Whether the call waits for the outcome of another one that finds out whether
                the endpoint is back.

        Raises:
            CallError: The endpoint is out.
        """
        return _Passage(self, patient)

    async def let_in(self) -> int:
        """Wait while calls are held back, then for a slot; no slot is held meanwhile.

        Returns:
            The ticket of the slot.
        """
        while True:
            if self.pacing.holds:
                await self.pacing.passed()
            ticket = await self.slots.take()
            if not self.pacing.holds:
                return ticket
            self.slots.give_back()

    def learn(self, error: CallError, ticket: int, *, probe: bool) -> None:
        """Learn from a failure of a call, of which the ticket tells when it was let out."""
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
