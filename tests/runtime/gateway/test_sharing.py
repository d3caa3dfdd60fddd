"""Servers of embedded models: when they start, and who is asked where one does not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.schema.values.errors import InputError

from ...provider import Provider, answer, model, request
from ...virtual_time import run_virtually, virtual_clock


@dataclass(eq=False)
class Embedded:
    """Stands in for the embedded server."""

    error: InputError | None = None
    events: list[str] = field(default_factory=list[str])
    api_base = "http://embedded/v1"
    key = "random"

    async def start(self) -> None:
        if self.events != ["started"]:
            self.events.append("started")
        if self.error:
            raise self.error

    async def stop(self) -> None:
        self.events.append("stopped")


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> Embedded:
    server = Embedded()
    monkeypatch.setattr("coterie.runtime.local.server.LocalServer", lambda _: server)
    return server


@pytest.fixture
def provider() -> Provider:
    """A provider of a model without end, and of the embedded one."""

    async def behave(name: str, _body: Mapping[str, Any]) -> ChatAnswer:
        if name == "default":
            raise CallError("it does not fit", kind="overflow")
        return answer(name)

    return Provider(behave)


def opened(provider: Provider, *, lazy: bool = False) -> Gateway:
    """Return a gateway to a model whose fallback is embedded."""
    models = model(fallback=("spare",)), model("spare", model="local:/local.gguf", api_base=None)
    known = {item.alias: item for item in models}
    gateway = Gateway(known, environment={}, clock=virtual_clock, lazy=lazy)
    gateway._clients["openai"] = provider
    return gateway


def test_an_embedded_fallback_starts_early_and_once(embedded: Embedded, provider: Provider) -> None:
    async def scene() -> ChatAnswer:
        async with opened(provider) as gateway:
            await gateway.prepare(["default"])
            assert embedded.events == ["started"]
            return await gateway.chat(request(schema={"type": "object", "properties": {}}))

    result = run_virtually(scene())
    assert (result.alias, result.text, result.usage.unpriced_calls) == ("spare", "local", 0)
    assert embedded.events == ["started", "stopped"]


def test_a_lazy_one_starts_with_the_first_question(embedded: Embedded, provider: Provider) -> None:
    async def scene() -> None:
        async with opened(provider, lazy=True) as gateway:
            await gateway.prepare(["default"])
            assert embedded.events == []
            await gateway.chat(request())
            assert embedded.events == ["started"]

    run_virtually(scene())


def test_an_unstarted_lazy_server_costs_nothing(embedded: Embedded, provider: Provider) -> None:
    embedded.error = InputError("llama.cpp cannot load it")

    async def scene() -> None:
        async with opened(provider, lazy=True) as gateway:
            await gateway.prepare(["default"])
            await gateway.chat(request())

    with pytest.raises(InputError, match="cannot load it"):
        run_virtually(scene())
    assert provider.asked == []
