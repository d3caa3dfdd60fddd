"""The gateway: from an alias to an answer."""

from __future__ import annotations

import asyncio
import os
import random
import time
from dataclasses import replace
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Self

from ...schema.host.models import PERSON, PERSON_MODEL
from ...schema.values.errors import InputError
from ...schema.values.values import replaced
from ..values.budget import Budget
from .chat.errors import CallError
from .chat.fallback import ParameterForm, refused_form
from .endpoint import configured, endpoint_of
from .model_client import ModelClient, PendingCall, no_account, unrecorded
from .prices import BATCHING, batch_price_of, is_declared, rates_of
from .rate_limiter import RateLimiter
from .sharing import Shared
from .stream_sink import Tell, unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from ...schema.host.models import Model
    from ..values.usage import BatchedAttempt
    from .chat.fallback import ParameterChange
    from .chat.messages import ChatAnswer, ChatRequest
    from .concurrency import Slots
    from .endpoint import Endpoint
    from .inbox_client import Responder
    from .model_client import Client, OpenAccount

OLDER_BOUND = refused_form("max_tokens", ParameterForm(name="max_tokens"))
"""The older name of the output limit, as a refused parameter."""
EMBEDDED_CONCURRENCY = 4
"""Concurrent calls of the embedded model: as many as its server handles at once."""


class Gateway:
    """Calls models by their alias. An async context manager; it belongs to one event loop.

    Args:
        environment: Where to look up keys and addresses. Default: the process's environment.
        seed: Seeds the jitter of waits.
        clock: Returns the time in seconds; only differences matter.
        shared: State shared by several gateways; its creator closes it. None to share nothing.
        responder: Also answers questions in a run's own inbox; None to accept answer files only.
        batched: Whether to call models through their providers' batch APIs, by `batches`.

    Attributes:
        batches: Makes calls in batches, while `batch.collecting` lasts.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        environment: Mapping[str, str] | None = None,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        shared: Shared | None = None,
        responder: Responder | None = None,
        batched: bool = False,
        lazy: bool = False,
    ) -> None:
        self.models = {PERSON: PERSON_MODEL, **models}
        self._responder = responder
        self.batched = batched
        self.batches: Client | None = None
        self._environment = os.environ if environment is None else environment
        self._jitter = random.Random(seed)  # noqa: S311 - spreads waits, guards nothing
        self._clock = clock
        self._by_alias: dict[str, ModelClient] = {}
        self._own = Shared()
        self._shared = shared or self._own
        self._clients: dict[str, Client] = {}
        self._narrowed: list[tuple[Slots, int]] = []
        self._lazy = lazy
        self._unstarted: set[Path | None] = set()
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Check that models and their fallbacks can be called, without calling them.

        Args:
            priced: Whether all of them must have a price, as a USD cap requires.

        Raises:
            InputError: An alias is unknown, the variable with its key is not set, it has no price,
                or its provider has no batch API.
        """
        for alias in sorted({name for first in aliases for name in self._route(first)}):
            line = self._client_of(alias)
            if self.batched and not (line.is_batched or line.model.is_inbox):
                raise InputError(
                    f"--batch: model {line.model.model!r} (alias {alias!r}) has no supported batch"
                    f" API. Choose a model of {', '.join(sorted(BATCHING))}, leave --batch out, or"
                    " write the model's batch_price in models.yaml if its api_base supports"
                    " OpenAI's or Anthropic's batch API."
                )
            if priced and line.rates is None:
                raise InputError(
                    f"the price of model {line.model.model!r} (alias {alias!r}) is unknown, so a"
                    " limit in USD cannot be enforced. Write its usd_per_mtok_input and"
                    " usd_per_mtok_output in models.yaml (0 if free), or add --allow-unpriced."
                )

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Check the models, and start what they and their fallbacks need.

        Raises:
            ModelError: The embedded server did not start.
        """
        wanted = sorted(set(aliases))
        self.check(wanted, priced=priced)
        for first in wanted:
            for alias in self._route(first):
                endpoint = self._client_of(alias).endpoint
                if endpoint.kind == "local":
                    await self._shared.find(endpoint.weights)
                    self._unstarted.add(endpoint.weights)
            # That of a fallback may take seconds to make, and is hardly ever needed.
            if not self._client_of(first).is_batched:
                await self._client(self._client_of(first).endpoint.kind)
        if not self._lazy:
            await self._start_servers()

    def takes_seed(self, alias: str) -> bool:
        """Return whether requests to a model can have a seed; the model may still ignore it."""
        try:
            endpoint = self._client_of(alias).endpoint
        except InputError:
            return False
        return endpoint.wire == "chat" and endpoint.kind != "litellm"

    def secrets(self) -> frozenset[str]:
        """Return the secret values that calls send, so that nothing records them."""
        return frozenset[str]().union(*(line.endpoint.secrets for line in self._by_alias.values()))

    async def chat(
        self,
        request: ChatRequest,
        on_retry: Callable[[CallError, float], None] = lambda _error, _wait: None,
        *,
        on_fallback: Callable[[CallError, str], None] = lambda _error, _alias: None,
        on_words: Callable[[str], None] | None = None,
        on_adapted: Callable[[ParameterChange], None] = lambda _: None,
        budget: Budget | None = None,
        open_account: OpenAccount = no_account,
        tell: Tell = unheard,
        folder: Path | None = None,
        batched_attempt: Callable[[str], BatchedAttempt] = unrecorded,
    ) -> ChatAnswer:
        """Call a model, and its fallbacks if it fails.

        Args:
            on_retry: Called with each failure to be retried and the seconds until then.
            on_fallback: Called with the failure that leads to another model, and that model's
                alias.
            on_words: Called with the text of a streamed answer as it arrives.
            on_adapted: Called once for each parameter that a model turns out to refuse.
            budget: What the call may spend. Every attempt first reserves its cost there.
            open_account: Records an attempt's possible cost before the attempt.
            tell: Records events of interest to people while the call waits for an answer.
            folder: The calling run's folder; None if it has none.
            batched_attempt: Returns the attempt that sends a request in a batch.

        Raises:
            CallError: No usable answer after the allowed retries, or a failure that cannot pass.
            BudgetReached: The budget has no room for the call, or its time is up.
            InputError: An alias is unknown, or its key or its server is unavailable.
            ModelError: The embedded server did not start.
        """
        await self._start_servers()  # before anything is paid for, whoever is asked
        started = self._clock()
        spent = (budget or Budget(clock=self._clock)).child()
        call = PendingCall(
            request=request,
            budget=spent,
            on_retry=on_retry,
            on_adapted=on_adapted,
            on_words=on_words or unheard,
            open_account=open_account,
            tell=tell,
            folder=folder,
            batched_attempt=batched_attempt,
        )
        try:
            if (left := spent.left()) is None:
                alias, answer, attempts = await self._answer(call, on_fallback)
            else:
                async with asyncio.timeout(left):
                    alias, answer, attempts = await self._answer(call, on_fallback)
        except TimeoutError:
            raise spent.time_is_up() from None
        except CallError as error:
            error.usage = spent.spent
            raise
        return replaced(
            answer,
            alias=alias,
            usage=spent.spent,
            seconds=round(self._clock() - started, 6),
            reported_usd=None,
            attempts=attempts,
        )

    async def close(self) -> None:
        """Close connections and stop the embedded server, unless it is shared."""
        for client in self._clients.values():
            await client.close()
        await self._own.close()
        for slots, bound in self._narrowed:
            slots.widen(bound)
        self._clients.clear()
        self._narrowed.clear()

    async def _answer(
        self, call: PendingCall, on_fallback: Callable[[CallError, str], None]
    ) -> tuple[str, ChatAnswer, int]:
        """Call a model, then its fallbacks; return the alias, its answer and its attempts."""
        route = self._route_of(call.request)
        earlier: list[str] = []
        for alias, following in zip_longest(route, route[1:]):
            line = self._client_of(alias)
            endpoint = line.endpoint
            if endpoint.kind == "local":
                endpoint = await self._reached(endpoint)
            # While another model can answer, the call does not wait for an endpoint that is out.
            this = call if following is None else replace(call, patient=False)
            try:
                client = self.batches if line.is_batched else self._clients.get(endpoint.kind)
                client = client or await self._client(endpoint.kind)
                return alias, *await line.chat(this, client, endpoint)
            except CallError as error:
                if following is None or not line.hands_over(error):
                    if not earlier:
                        raise
                    raise error.after(earlier) from error
                earlier.append(f"{alias!r}: {error}")
                on_fallback(error, following)
        raise AssertionError("a route has at least one model")

    def _route_of(self, request: ChatRequest) -> list[str]:
        """Return the aliases to call, without fallbacks that do not accept the attachments."""
        first, *fallbacks = self._route(request.model)
        if not fallbacks or not request.attachments:
            return [first, *fallbacks]
        from .chat.inputs import takes

        shown = request.attachments.values()
        models = {fallback: self._client_of(fallback).model for fallback in fallbacks}
        able = (
            name
            for name, model in models.items()
            if all(takes(model, attachment) for attachment in shown)
        )
        return [first, *able]

    def _route(self, alias: str) -> list[str]:
        """Return the aliases to call in order: the first, its fallbacks, and theirs."""
        route: list[str] = []
        ahead = [alias]
        while ahead:
            if (name := ahead.pop(0)) not in route:
                route.append(name)
                ahead = [*self._client_of(name).model.fallback, *ahead]
        return route

    def _client_of(self, alias: str) -> ModelClient:
        if alias not in self._by_alias:
            if alias not in self.models:
                raise InputError(f"no model {alias!r}. Known: {', '.join(sorted(self.models))}.")
            model = self.models[alias]
            endpoint = configured(endpoint_of(model, self._environment), model, self._environment)
            limiter = self._limiter_of(endpoint)
            if bound := model.concurrency or (EMBEDDED_CONCURRENCY if model.is_embedded else None):
                limiter.slots.narrow(bound)
                self._narrowed.append((limiter.slots, bound))
            line = ModelClient(
                model=model,
                endpoint=endpoint,
                limiter=limiter,
                rates=rates_of(model),
                is_declared=is_declared(model),
            )
            self._by_alias[alias] = _in_batches(line) if self.batched else line
        return self._by_alias[alias]

    def _limiter_of(self, endpoint: Endpoint) -> RateLimiter:
        """Return the limiter that all calls of a model share, whatever their alias and key."""
        place = replace(endpoint, key=None)
        limiters = self._shared.limiters
        if place not in limiters:
            name = f"{endpoint.api_base or 'the endpoint'} ({endpoint.model})"
            limiter = RateLimiter(name, self._jitter, clock=self._clock)
            return limiters.setdefault(place, limiter)
        return limiters[place]

    async def _client(self, kind: str) -> Client:
        """Create the client on the first call that needs it."""
        if self.batched and kind == "openai":
            raise RuntimeError("calls in batches are made while `batch.collecting` lasts")
        kind = kind if kind in {"inbox", "litellm"} else "openai"
        if kind not in self._clients:
            async with self._starting:
                if kind not in self._clients:
                    self._clients[kind] = await _new_client(kind, self._responder)
        return self._clients[kind]

    async def _start_servers(self) -> None:
        """Start the prepared servers that are not running yet."""
        for weights in [*self._unstarted]:
            await self._shared.server(weights)
            self._unstarted.discard(weights)

    async def _reached(self, endpoint: Endpoint) -> Endpoint:
        """Start the embedded server on the first call that needs it."""
        if endpoint.kind != "local":
            return endpoint
        server = await self._shared.server(endpoint.weights)
        return replace(endpoint, api_base=server.api_base, key=server.key)


def _in_batches(client: ModelClient) -> ModelClient:
    """Return a model's client for batches; unchanged if its provider has none."""
    part = batch_price_of(client.model)
    if part is None or client.endpoint.kind != "openai":
        return client
    return replace(
        client,
        endpoint=replace(client.endpoint, stream=False),
        rates=client.rates and client.rates.times(part),
        is_batched=True,
        # All of OpenAI's models accept the newer name. Finding out in a batch may take hours.
        refused={OLDER_BOUND} if client.model.api_base is None else set[str](),
    )


async def _new_client(kind: str, responder: Responder | None) -> Client:
    if kind == "inbox":
        from .inbox_client import InboxClient

        return InboxClient(responder)
    if kind == "litellm":
        from .litellm_client import LitellmClient

        return await asyncio.to_thread(LitellmClient)  # its import takes seconds
    client = await asyncio.to_thread(import_module, ".http.http_client", __package__)
    return client.HttpClient()
