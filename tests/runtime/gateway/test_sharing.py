"""Servers of embedded models: when they start, and who is asked where one does not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.schema.values.errors import InputError

from ...provider import Provider, answer, model, request
from ...virtual_time import virtual_clock, virtually


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


@virtually
async def test_an_embedded_fallback_starts_early_and_once(
    embedded: Embedded, provider: Provider
) -> None:
    async with opened(provider) as gateway:
        await gateway.prepare(["default"])
        assert embedded.events == ["started"]
        result = await gateway.chat(request(schema={"type": "object", "properties": {}}))
    assert (result.alias, result.text, result.usage.unpriced_calls) == ("spare", "local", 0)
    assert embedded.events == ["started", "stopped"]


@virtually
async def test_a_lazy_one_starts_with_the_first_question(
    embedded: Embedded, provider: Provider
) -> None:
    async with opened(provider, lazy=True) as gateway:
        await gateway.prepare(["default"])
        assert embedded.events == []
        await gateway.chat(request())
        assert embedded.events == ["started"]


@virtually
async def test_an_unstarted_lazy_server_costs_nothing(
    embedded: Embedded, provider: Provider
) -> None:
    embedded.error = InputError("llama.cpp cannot load it")
    async with opened(provider, lazy=True) as gateway:
        await gateway.prepare(["default"])
        with pytest.raises(InputError, match="cannot load it"):
            await gateway.chat(request())
    assert provider.asked == []
