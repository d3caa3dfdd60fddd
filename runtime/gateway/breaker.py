"""A circuit breaker: an endpoint that is out is left alone, and asked now and then whether it is.

Closed, it lets all calls through. Failures in a row open it: calls fail at once, without asking.
After a cool-down it is half open: one call, the probe, is let through, and its outcome decides for
the others.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from .chat.errors import CallError

MOST_FAILURES = 5
"""Failures in a row that open it."""
FIRST_COOL_DOWN = 30.0
"""Seconds until the first probe; each probe that fails doubles them."""
LONGEST_COOL_DOWN = 60.0


class Breaker:
    """Keeps calls from an endpoint that fails them all, whatever event loop they come from.

    Args:
        clock: Gives the time in seconds; only differences matter.
    """

    def __init__(self, name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
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
        """Whether calls are kept away, the probe excepted."""
        return self._failures >= MOST_FAILURES

    async def admit(self, *, patient: bool = True) -> bool:
        """Let a call through, or keep it away.

        Args:
            patient: Whether the call waits for the outcome of a probe under way.

        Returns:
            Whether the call is the probe. It must end in one of the three ways below.

        Raises:
            CallError: The endpoint is out; `retry_after` says when it is asked again.
        """
        while self.is_open:
            with self._lock:
                if self._probe_over is None and self._clock() >= self._until:
                    self._probe_over = Future()
                    return True
                if (over := self._probe_over) is None or not patient:
                    raise self._out()
            # Shielded: all who wait share the future, and one that is cancelled must not cancel it.
            await asyncio.shield(asyncio.wrap_future(over))
        return False

    def answered(self) -> None:
        """Take note that the endpoint is there: it answered, or refused like one who works."""
        with self._lock:
            self._failures = 0
            self._cool_down = FIRST_COOL_DOWN
            self._end_probe()

    def failed(self, error: CallError, *, probe: bool = False) -> None:
        """Take note of a failure. Calls that were under way when it opened do not extend it."""
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
        """Take note that a call ended without an outcome; if it was the probe, the next one is."""
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
            f"{self._name} has been failing for {now - self._since:.0f} seconds and is left alone"
            f" for {wait:.0f} more, after {self._failures} failures in a row; the last was:"
            f" {self._last}",
            kind="down",
            retry_after=wait,
        )
