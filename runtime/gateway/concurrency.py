"""The number of a model's calls in flight: halved after a refusal, raised again by answers."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from concurrent.futures import Future
from threading import Lock


class Slots:
    """Bounds the calls in flight, of one event loop or several. First come, first served.

    A refusal ("too many requests") halves the bound. Each answer raises it by a fraction, one slot
    per round of answers, up to the original bound. Calls that were in flight together and are
    refused together halve it once.
    """

    def __init__(self, most: int | None = None) -> None:
        self._limits = [] if most is None else [most]
        self._bound = self._most
        self._in_use = 0
        self._refusals = 0
        self._waiting: deque[tuple[Future[None], asyncio.AbstractEventLoop]] = deque()
        self._lock = Lock()

    def narrow(self, most: int) -> None:
        """Add a bound; without refusals, the lowest one holds."""
        with self._lock:
            self._limits.append(most)
            self._bound = min(self._bound, most)

    def widen(self, most: int) -> None:
        """Remove a bound that was added."""
        with self._lock:
            was_full = self._bound == self._most
            self._limits.remove(most)
            self._bound = self._most if was_full else self._bound
            self._serve()

    async def take(self) -> int:
        """Wait for a slot and take it.

        Returns:
            A ticket, for `refused`.
        """
        with self._lock:
            # The bound grows by fractions: `in_use < bound` would let one too many in.
            if not self._waiting and self._in_use + 1 <= self._bound:
                self._in_use += 1
                return self._refusals
            turn = (Future[None](), asyncio.get_running_loop())
            self._waiting.append(turn)
        try:
            await asyncio.wrap_future(turn[0])
        except BaseException:
            self._leave(turn)
            raise
        return self._refusals

    def give_back(self) -> None:
        """Release the slot to the next call."""
        with self._lock:
            self._in_use -= 1
            self._serve()

    def answered(self) -> None:
        """Raise the bound after an answer."""
        if self._bound < self._most:
            with self._lock:
                self._bound = min(self._most, self._bound + 1 / self._bound)

    def refused(self, ticket: int) -> None:
        """Halve the bound, unless it was halved since the call with this ticket began."""
        with self._lock:
            if ticket == self._refusals:
                self._refusals += 1
                self._bound = max(1.0, min(self._bound, self._in_use) / 2)

    @property
    def _most(self) -> float:
        return min(self._limits, default=math.inf)

    def _leave(self, turn: tuple[Future[None], asyncio.AbstractEventLoop]) -> None:
        """Stop waiting, and release the slot if one was granted meanwhile."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        if not turn[0].cancelled():
            self.give_back()

    def _serve(self) -> None:
        """Grant free slots to waiting calls. The caller holds the lock."""
        while self._waiting and self._in_use + 1 <= self._bound:
            turn, loop = self._waiting.popleft()
            # A waiter that gave up, or whose loop has ended, would never release its slot.
            if not loop.is_closed() and turn.set_running_or_notify_cancel():
                self._in_use += 1
                turn.set_result(None)
