"""How many requests run at once, and how many may wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from .refusals import Refusal

RETRY_AFTER = 5
"""Seconds after which a client may try again."""


class RequestQueue:
    """A first-come, first-served queue of requests."""

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._slots = asyncio.Semaphore(at_once)
        self.at_work = 0
        self.waiting = 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a turn, and hold it during the body.

        Raises:
            Refusal: Too many are waiting.
        """
        if self._slots.locked() and self.waiting >= self._most_waiting:
            message = (
                f"too many requests: {self._at_once} running and {self.waiting} waiting, the limit"
                f" (--concurrency). Try again in {RETRY_AFTER} seconds."
            )
            raise Refusal(429, message, code="too_many_requests", retry_after=RETRY_AFTER)
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1
            self._slots.release()
