"""The line to one model: its attempts, what each may cost, and how long it may take."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from .body import ADAPTABLE, Body
from .errors import CallError
from .metering import metered, tokens_in
from .retry import call_with_retries

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema.models import Model
    from ..budget import Budget
    from .chat import ChatAnswer, ChatRequest
    from .endpoint import Endpoint
    from .prices import Rates
    from .traffic import Traffic

__all__ = ["Call", "Client", "Line"]


class Client(Protocol):
    """What makes one request of an endpoint.

    * Must stop at once, and let go of its connection, when it is cancelled: time is bounded by
      whoever calls it.
    """

    async def chat(self, endpoint: Endpoint, body: Body) -> ChatAnswer:
        """Make one request.

        Raises:
            CallError: No answer, or not one that the API promises.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call on its way.

    Attributes:
        request: What to ask.
        budget: What it may spend.
        on_retry: Told each failure that will be retried and the seconds until then.
        patient: Whether it waits for a model that is out; False where another one can answer.
    """

    request: ChatRequest
    budget: Budget
    on_retry: Callable[[CallError, float], None]
    patient: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """An alias with what is needed to call its model.

    Attributes:
        model: What the alias stands for.
        endpoint: Where it is.
        traffic: When calls may go out; shared with other aliases of the same model.
        rates: What the model costs; None where nobody told.
        refused: The parameters that the model turned out not to support.
    """

    model: Model
    endpoint: Endpoint
    traffic: Traffic
    rates: Rates | None
    refused: set[str] = field(default_factory=set[str])

    async def chat(self, call: Call, client: Client, endpoint: Endpoint) -> tuple[ChatAnswer, int]:
        """Ask, and again while failures may pass and retries are left.

        Args:
            call: What to ask, and within which bounds.
            client: Makes the requests.
            endpoint: Where the model is now.

        Returns:
            The answer and the number of attempts.

        Raises:
            CallError: No usable answer.
            BudgetReached: The budget allows no further attempt.
        """

        async def attempt() -> ChatAnswer:
            async with self.traffic.passage(patient=call.patient):
                return await self._adapted(call, client, endpoint)

        def may_retry(error: CallError) -> bool:
            return error.may_pass and (call.patient or not self.traffic.breaker.is_open)

        return await call_with_retries(
            attempt, call.request.retries, call.on_retry, self.traffic.pacing, may_retry
        )

    async def _adapted(self, call: Call, client: Client, endpoint: Endpoint) -> ChatAnswer:
        """Make an attempt; leave out what the model turns out not to support, once and for all."""
        while True:
            body = Body.of(endpoint, call.request, self.refused)
            try:
                return await self._paid(call, client, endpoint, body)
            except CallError as error:
                refused = error.parameter
                if refused is None or refused not in ADAPTABLE or refused in self.refused:
                    raise
                self.refused.add(refused)

    async def _paid(self, call: Call, client: Client, endpoint: Endpoint, body: Body) -> ChatAnswer:
        """Make a request: reserve what it may cost, then count what it cost."""
        prompt, completion = tokens_in(body.content), call.request.max_tokens
        reservation = await call.budget.reserve(
            tokens=prompt + completion,
            usd=self.rates.highest(prompt, completion) if self.rates else None,
            prompt_tokens=prompt,
        )
        try:
            answer = await self._in_time(client, endpoint, body, call.request.patience)
        except CallError as error:
            reservation.keep() if error.may_be_billed else reservation.release()
            raise
        except BaseException:
            reservation.keep()
            raise
        reservation.settle(metered(answer, prompt, self.rates))
        return answer

    async def _in_time(
        self, client: Client, endpoint: Endpoint, body: Body, patience: float | None
    ) -> ChatAnswer:
        """Make a request, no longer than the model's timeout: libraries bound single reads only."""
        limit = self.model.timeout
        is_hurried = patience is not None and patience < limit
        seconds = patience if is_hurried else limit
        try:
            async with asyncio.timeout(seconds):
                return await client.chat(endpoint, body)
        except TimeoutError:
            whose = f", the agent's timeout (the model's own is {limit:g})" if is_hurried else ""
            raise CallError(
                f"{endpoint.shown}: no whole answer within {seconds:g} seconds{whose}.",
                kind="slow" if is_hurried else "timeout",
                may_be_billed=True,
            ) from None
