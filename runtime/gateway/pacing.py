"""When calls of a model come back after a failure: apart from each other, and not too early."""

from __future__ import annotations

import asyncio
import bisect
import math
import random
import time
from collections.abc import Callable
from threading import Lock

GAP = 0.06
"""Seconds between two calls that come back."""
SPREAD = 0.5
"""Seconds over which calls spread that come back after what one of them was told."""


class Pacing:
    """Plans the returns of calls of one model, whatever event loop they come from.

    Args:
        jitter: Where the waits' randomness comes from.
        clock: Gives the time in seconds; only differences matter.
    """

    def __init__(
        self,
        jitter: random.Random,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jitter = jitter
        self._clock = clock
        self._held_until = -math.inf
        self._planned: list[float] = []
        self._lock = Lock()

    def hold(self, seconds: float) -> None:
        """Hold all calls back: the endpoint told one of them to wait so long."""
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
        """Plan a call's return.

        Args:
            spread: It comes back at a random moment within so many seconds (full jitter), or later
                where others come back at that moment.
            at_least: Seconds that it waits before that, if calls are not held back longer.

        Returns:
            Seconds until then.
        """
        now = self._clock()
        earliest = max(now + at_least, self._held_until)
        moment = earliest + self._jitter.uniform(0, spread)
        with self._lock:
            self._planned = [planned for planned in self._planned if planned > now - GAP]
            # In order of time: a return that is moved past one may be too close to the next.
            for planned in self._planned:
                if abs(planned - moment) < GAP:
                    moment = planned + GAP
            bisect.insort(self._planned, moment)
        return moment - now
