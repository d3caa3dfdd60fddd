"""The gateway: from an alias to an answer."""

from __future__ import annotations

import asyncio
import os
import random
import time
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from ...schema.errors import InputError
from ...schema.values import is_list, is_mapping
from .endpoint import endpoint_of
from .errors import CallError
from .prices import price
from .retry import call_with_retries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from ...schema.models import Model
    from ..local.server import LocalServer
    from .chat import ChatAnswer, ChatRequest, Usage
    from .endpoint import Endpoint

__all__ = ["Gateway"]

CHARACTERS_PER_TOKEN = 4
EMBEDDED_CONCURRENCY = 4
"""Calls of the embedded model in flight: as many as its server works on at once."""

ADAPTABLE: Mapping[str, str | None] = {"max_tokens": "max_completion_tokens"} | dict.fromkeys(
    ("response_format", "seed", "stop", "temperature")
)
"""What a call can do without where a model does not support it, or the name that it has there."""


class Client(Protocol):
    """What makes one attempt at an endpoint."""

    async def chat(self, endpoint: Endpoint, body: Mapping[str, Any], timeout: float) -> ChatAnswer:
        """Make one attempt; see `OpenAIClient.chat`."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """A model with what is needed to call it."""

    model: Model
    endpoint: Endpoint
    slots: AbstractAsyncContextManager[Any]
    refused: set[str] = field(default_factory=set[str])


class Gateway:
    """Calls models by their alias. An async context manager; it belongs to one event loop.

    Args:
        models: The models by alias.
        environment: Where keys and addresses are looked up. Default: the process's environment.
        seed: Seeds the jitter of waits.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        environment: Mapping[str, str] | None = None,
        seed: int | None = None,
    ) -> None:
        self.models = models
        self._environment = os.environ if environment is None else environment
        self._jitter = random.Random(seed)  # noqa: S311 - spreads waits, guards nothing
        self._lines: dict[str, _Line] = {}
        self._clients: dict[str, Client] = {}
        self._servers: dict[Path | None, LocalServer] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def check(self, aliases: Iterable[str]) -> None:
        """Make sure that models can be called, as far as this is known without calling them.

        Raises:
            InputError: An alias is unknown, or the variable with its key is not set.
        """
        for alias in sorted(set(aliases)):
            self._line(alias)

    async def prepare(self, aliases: Iterable[str]) -> None:
        """Check the models, and start the embedded server if one of them needs it.

        Raises:
            InputError: As for `check`; or a model file is missing or is none.
            ModelError: The embedded server did not start.
        """
        self.check(aliases)
        for alias in sorted(set(aliases)):
            await self._reached(self._line(alias).endpoint)

    def secrets(self) -> frozenset[str]:
        """Give the keys that calls send, for whoever must keep them out of what is written."""
        keys = (self._line(alias).endpoint.key for alias in self._lines)
        return frozenset(key for key in keys if key)

    async def chat(
        self,
        request: ChatRequest,
        on_retry: Callable[[CallError, float], None] = lambda _error, _wait: None,
    ) -> ChatAnswer:
        """Ask a model.

        Args:
            request: What to ask.
            on_retry: Told each failure that will be retried and the seconds until then.

        Raises:
            CallError: No usable answer after the allowed retries, or a failure that cannot pass.
            InputError: The alias is unknown, or its key or its server cannot be had.
        """
        line = self._line(request.model)
        started = time.monotonic()
        async with line.slots:
            endpoint = await self._reached(line.endpoint)
            body = _body(endpoint, request)
            answer, attempts = await call_with_retries(
                lambda: self._attempt(line, endpoint, body),
                request.retries,
                on_retry,
                self._jitter,
            )
        usage = _priced(line.model, _metered(answer, request))
        seconds = time.monotonic() - started
        return replace(answer, usage=usage, seconds=seconds, attempts=attempts)

    async def close(self) -> None:
        """Close connections and stop the embedded server."""
        for client in self._clients.values():
            await client.close()
        for server in self._servers.values():
            await server.stop()
        self._clients.clear()
        self._servers.clear()

    def _line(self, alias: str) -> _Line:
        if alias not in self._lines:
            if alias not in self.models:
                raise InputError(f"no model {alias!r}. Known: {', '.join(sorted(self.models))}.")
            model = self.models[alias]
            bound = model.concurrency or (EMBEDDED_CONCURRENCY if model.is_embedded else None)
            slots = asyncio.Semaphore(bound) if bound else nullcontext()
            endpoint = endpoint_of(model, self._environment)
            self._lines[alias] = _Line(model=model, endpoint=endpoint, slots=slots)
        return self._lines[alias]

    async def _attempt(self, line: _Line, endpoint: Endpoint, body: dict[str, Any]) -> ChatAnswer:
        """Make one attempt; leave out what the model turns out not to support, once and for all."""
        while True:
            try:
                adapted = _adapted(body, line.refused)
                return await self._client(endpoint.kind).chat(endpoint, adapted, line.model.timeout)
            except CallError as error:
                refused = error.parameter
                if refused is None or refused not in ADAPTABLE or refused in line.refused:
                    raise
                line.refused.add(refused)

    def _client(self, kind: str) -> Client:
        kind = "litellm" if kind == "litellm" else "openai"
        if kind not in self._clients:
            self._clients[kind] = _new_client(kind)
        return self._clients[kind]

    async def _reached(self, endpoint: Endpoint) -> Endpoint:
        """Start the embedded server on the first call that needs it."""
        if endpoint.kind != "local":
            return endpoint
        async with self._starting:
            if endpoint.weights not in self._servers:
                from ..local.server import start_server

                self._servers[endpoint.weights] = await start_server(endpoint.weights)
        server = self._servers[endpoint.weights]
        return replace(endpoint, api_base=server.api_base, key=server.key)


def _new_client(kind: str) -> Client:
    if kind == "litellm":
        from .litellm_client import LitellmClient

        return LitellmClient()
    from .openai_http import OpenAIClient

    return OpenAIClient()


def _body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """Write a request as the chat API has it."""
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": list(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "stop": list(request.stop) or None,
        "tools": list(request.tools) or None,
        "tool_choice": request.tool_choice if request.tools else None,
        **_constraint(endpoint, request.schema),
    }
    return {key: item for key, item in body.items() if item is not None}


def _adapted(body: dict[str, Any], refused: set[str]) -> dict[str, Any]:
    """Rename or leave out the parameters that a model refuses."""
    named = ((ADAPTABLE[key] if key in refused else key, item) for key, item in body.items())
    return {key: item for key, item in named if key is not None}


def _constraint(endpoint: Endpoint, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Hold the endpoint to a schema, in the way that it offers."""
    if schema is None:
        return {}
    if endpoint.kind == "local":
        from ..local.grammar import schema_grammar

        return {"grammar": schema_grammar(schema)}
    named = {"name": "answer", "schema": schema, "strict": _is_strict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _is_strict(schema: Any) -> bool:
    """Tell whether every object of a schema is closed and complete, as strict decoding demands."""
    if is_list(schema):
        return all(_is_strict(item) for item in schema)
    if not is_mapping(schema):
        return True
    if schema.get("type") == "object":
        fields: dict[str, Any] = schema.get("properties") or {}
        required: list[str] = schema.get("required") or []
        if schema.get("additionalProperties") is not False or set(required) != set(fields):
            return False
    return all(_is_strict(item) for item in schema.values())


def _metered(answer: ChatAnswer, request: ChatRequest) -> Usage:
    """Give the usage, estimated from the texts' lengths where the endpoint told none."""
    if not answer.usage.unmetered_calls:
        return answer.usage
    read = sum(len(str(message.get("content") or "")) for message in request.messages)
    written = len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls)
    return replace(
        answer.usage,
        prompt_tokens=answer.usage.prompt_tokens or -(-read // CHARACTERS_PER_TOKEN),
        completion_tokens=answer.usage.completion_tokens or -(-written // CHARACTERS_PER_TOKEN),
    )


def _priced(model: Model, usage: Usage) -> Usage:
    usd = price(model, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    return replace(usage, unpriced_calls=1) if usd is None else replace(usage, usd=usd)
