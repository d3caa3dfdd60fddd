"""A provider of models in this process: it answers by a function, and keeps its own books."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Endpoint, Gateway
from coterie.runtime.gateway.chat.body import Body
from coterie.runtime.gateway.stream_sink import StreamSink
from coterie.runtime.values.usage import Usage
from coterie.schema import Model

from .virtual_time import virtual_clock

Behaviour = Callable[[str, Mapping[str, Any]], Awaitable[ChatAnswer]]
"""Answers a request for a model, or raises what a client raises."""


class Provider:
    """Takes the place of the gateway's HTTP client.

    Attributes:
        moments: When each request came, in seconds.
        asked: The model of each request.
        bodies: What each request says.
        peak: The most requests that were open at once.
    """

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.moments: list[float] = []
        self.asked: list[str] = []
        self.bodies: list[Mapping[str, Any]] = []
        self.peak = 0
        self.open = 0

    async def chat(self, endpoint: Endpoint, body: Body, _sink: StreamSink) -> ChatAnswer:
        self.moments.append(virtual_clock())
        self.asked.append(endpoint.model)
        self.bodies.append(body.fields)
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            return await self.behave(endpoint.model, body.fields)
        finally:
            self.open -= 1

    async def close(self) -> None:
        return


def answer(text: str = "four", *, prompt: int = 10, completion: int = 2) -> ChatAnswer:
    usage = Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)
    return ChatAnswer(text=text, usage=usage)


def in_turn(*outcomes: ChatAnswer | CallError | float) -> Behaviour:
    """Answer or fail as listed, whatever is asked; a number is a request that hangs so long."""
    left = list(outcomes)

    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        outcome = left.pop(0)
        if isinstance(outcome, CallError):
            raise outcome
        if isinstance(outcome, ChatAnswer):
            return outcome
        await asyncio.sleep(outcome)
        return answer()

    return behave


def model(alias: str = "default", **fields: Any) -> Model:
    """A model whose name at the provider is its alias."""
    given: dict[str, Any] = {"model": alias, "api_base": "http://provider/v1", **fields}
    return Model(alias=alias, **given)


PRICED: dict[str, Any] = {"usd_per_mtok_input": 1.0, "usd_per_mtok_output": 2.0}


@asynccontextmanager
async def gateway_to(provider: Provider, *models: Model, seed: int = 1) -> AsyncGenerator[Gateway]:
    """A gateway on the running loop's time whose requests go to a provider of this process."""
    known = {item.alias: item for item in models or (model(),)}
    async with Gateway(known, environment={}, seed=seed, clock=virtual_clock) as gateway:
        gateway._clients["openai"] = provider
        yield gateway


def request(alias: str = "default", **fields: Any) -> ChatRequest:
    asked = {"role": "user", "content": "What is two and two?"}
    given: dict[str, Any] = {"model": alias, "messages": [asked], **fields}
    return ChatRequest(**given)
