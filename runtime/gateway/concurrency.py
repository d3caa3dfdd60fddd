"""How many calls of a model are in flight: fewer after a refusal, more again with each answer."""

from __future__ import annotations

import asyncio
import math
from collections import deque


class Slots:
    """Bounds the calls in flight. Who comes first is let in first.

    A refusal ("too many requests") halves the bound, and each answer widens it by a fraction, one
    slot per round of answers, until it is what it was. Calls that were in flight together are
    refused together and halve it once.

    Args:
        most: The bound while nothing is refused; None for no bound.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = math.inf if most is None else most
        self._bound = self._most
        self._taken = 0
        self._refusals = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def narrow(self, most: int) -> None:
        """Lower the bound that holds while nothing is refused, if it is higher."""
        self._most = min(self._most, most)
        self._bound = min(self._bound, most)

    async def take(self) -> int:
        """Wait for a slot and take it.

        Returns:
            A ticket, for `refused`.
        """
        if self._waiting or self._taken + 1 > self._bound:
            await self._turn()
        else:
            self._taken += 1
        return self._refusals

    def give_back(self) -> None:
        """Leave the slot to the next call."""
        self._taken -= 1
        self._serve()

    def answered(self) -> None:
        """Widen the bound: the endpoint keeps up."""
        if self._bound < self._most:
            self._bound = min(self._most, self._bound + 1 / self._bound)

    def refused(self, ticket: int) -> None:
        """Halve the bound, unless it was halved since the call with this ticket began."""
        if ticket == self._refusals:
            self._refusals += 1
            self._bound = max(1.0, min(self._bound, self._taken) / 2)

    async def _turn(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif not turn.cancelled():  # let in and cancelled at the same time
                self.give_back()
            raise

    def _serve(self) -> None:
        while self._waiting and self._taken + 1 <= self._bound:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
