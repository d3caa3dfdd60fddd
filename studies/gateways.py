"""Gateways that ask nobody: what those of the studies have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import ChatAnswer, Gateway
from coterie.runtime.values.budget import Budget

from .simulated import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coterie.runtime.gateway import ChatRequest
    from coterie.runtime.values.usage import Usage


class OfflineGateway(Gateway):
    """A gateway that needs no key, no price and no server."""

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""


class SimulatedGateway(OfflineGateway):
    """A gateway whose answers are texts that follow from the request and its seed."""

    def takes_seed(self, alias: str) -> bool:
        """Repeat an answer for the same seed, whichever model is asked."""
        del alias
        return True

    async def chat(
        self, request: ChatRequest, *_: Any, budget: Budget | None = None, **__: Any
    ) -> ChatAnswer:
        """Answer a request; its usage follows from the length of what is read and written.

        Raises:
            BudgetReached: The budget has no room for the call.
        """
        reservation = await (budget or Budget()).reserve(tokens=0, usd=None)
        text = self.answered(request)
        usage = usage_of(request, text)
        self.count(request, usage)
        reservation.settle(usage)
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)

    def answered(self, request: ChatRequest) -> str:
        """Return the text of the answer."""
        raise NotImplementedError

    def count(self, request: ChatRequest, usage: Usage) -> None:
        """Take note of what a request consumed."""
        raise NotImplementedError
