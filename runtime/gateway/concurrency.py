"""How many calls of a model are in flight: fewer after a refusal, more again with each answer."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from concurrent.futures import Future
from threading import Lock


class Slots:
    """Bounds the calls in flight, of one event loop or several. Who comes first is let in first.

    A refusal ("too many requests") halves the bound, and each answer widens it by a fraction, one
    slot per round of answers, until it is what it was. Calls that were in flight together are
    refused together and halve it once.

    Args:
        most: The bound while nothing is refused; None for no bound.
    """

    def __init__(self, most: int | None = None) -> None:
        self._limits = [] if most is None else [most]
        self._bound = self._most
        self._in_use = 0
        self._refusals = 0
        self._waiting: deque[tuple[Future[None], asyncio.AbstractEventLoop]] = deque()
        self._lock = Lock()

    def narrow(self, most: int) -> None:
        """Add a bound; while nothing is refused, the lowest holds."""
        with self._lock:
            self._limits.append(most)
            self._bound = min(self._bound, most)

    def widen(self, most: int) -> None:
        """Take back a bound that was added."""
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
        """Leave the slot to the next call."""
        with self._lock:
            self._in_use -= 1
            self._serve()

    def answered(self) -> None:
        """Widen the bound: the endpoint keeps up."""
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
        """Wait no longer; a slot that was given meanwhile is given back."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        if not turn[0].cancelled():
            self.give_back()

    def _serve(self) -> None:
        """Let in who waits, while there are slots. The lock is held."""
        while self._waiting and self._in_use + 1 <= self._bound:
            turn, loop = self._waiting.popleft()
            # A waiter that gave up, or whose loop has ended, would never give its slot back.
            if not loop.is_closed() and turn.set_running_or_notify_cancel():
                self._in_use += 1
                turn.set_result(None)
