"""A circuit breaker: it stops calls to a failing endpoint and probes now and then for recovery.

While closed, it admits all calls. Consecutive failures open it: calls then fail at once, without a
request. After a cool-down it is half open: it admits one call, the probe, whose outcome decides for
the others.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from .chat.errors import CallError

MOST_FAILURES = 5
"""Consecutive failures that open the breaker."""
FIRST_COOL_DOWN = 30.0
"""Seconds until the first probe; each failed probe doubles them."""
LONGEST_COOL_DOWN = 60.0


class Breaker:
    """Stops calls to an endpoint that fails them all. Safe to use from several event loops."""

    def __init__(self, name: str, *, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._failures = 0
        self._since = math.inf
        self._until = -math.inf
        self._cool_down = FIRST_COOL_DOWN
        self._last: CallError | None = None
        self._probe_over: Future[None] | None = None
        self._lock = Lock()

    @property
    def is_open(self) -> bool:
        """Whether calls are rejected, except for the probe."""
        return self._failures >= MOST_FAILURES

    async def admit(self, *, patient: bool = True) -> bool:
        """Admit or reject a call.

        Args:
            patient: Whether the call waits for the outcome of a running probe.

        Returns:
            Whether the call is the probe. A probe must end with one of the three methods below.

        Raises:
            CallError: The endpoint is out; `retry_after` holds the seconds until the next probe.
        """
        while self.is_open:
            with self._lock:
                if self._probe_over is None and self._clock() >= self._until:
                    self._probe_over = Future()
                    return True
                if (over := self._probe_over) is None or not patient:
                    raise self._out()
            # Shielded: all waiting calls share the future, and a cancelled one must not cancel it.
            await asyncio.shield(asyncio.wrap_future(over))
        return False

    def answered(self) -> None:
        """Record that the endpoint works: it answered, or refused the request properly."""
        with self._lock:
            self._failures = 0
            self._cool_down = FIRST_COOL_DOWN
            self._end_probe()

    def failed(self, error: CallError, *, probe: bool = False) -> None:
        """Record a failure. Calls already under way when the breaker opened do not extend it."""
        now = self._clock()
        with self._lock:
            if probe:
                self._cool_down = min(LONGEST_COOL_DOWN, 2 * self._cool_down)
            elif self.is_open:
                return
            if self._failures == 0:
                self._since = now
            self._failures += 1
            self._last = error
            self._until = now + self._cool_down
            if probe:
                self._end_probe()

    def undone(self, *, probe: bool) -> None:
        """Record a call that ended without an outcome; if it was the probe, the next call is."""
        if probe:
            with self._lock:
                self._end_probe()

    def _end_probe(self) -> None:
        if self._probe_over is not None:
            self._probe_over.set_result(None)
            self._probe_over = None

    def _out(self) -> CallError:
        now = self._clock()
        wait = max(0.0, self._until - now)
        return CallError(
            f"{self._name} failed {self._failures} times in a row over {now - self._since:.0f}"
            f" seconds and is not called for another {wait:.0f}; the last failure: {self._last}",
            kind="down",
            retry_after=wait,
        )
