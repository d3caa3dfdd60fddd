"""When calls of a model are retried after a failure: spread out, and not too early."""

from __future__ import annotations

import asyncio
import bisect
import math
import random
import time
from collections.abc import Callable
from threading import Lock

GAP = 0.06
"""Least seconds between two retried calls."""
SPREAD = 0.5
"""Seconds over which to spread the calls that waited because the endpoint asked one of them to."""


class Pacing:
    """Schedules the retries of one model's calls. Safe to use from several event loops.

    Args:
        jitter: The source of randomness for waits.
        clock: Returns the time in seconds; only differences matter.
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
