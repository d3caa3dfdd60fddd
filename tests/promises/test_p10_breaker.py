"""P10: an endpoint that is dead is asked a handful of times, and found again when it is back."""

import asyncio
import random
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.runtime.gateway.breaker import MOST_FAILURES
from coterie.runtime.gateway.chat.errors import Kind

from ..provider import Provider, answer, gateway_to, model, request
from ..virtual_time import run_virtually, virtual_clock, virtually

WORKERS = 8
MINUTE = 60.0


def dead(chance: random.Random, slowest: float, back_at: float = float("inf")) -> Provider:
    """A provider whose every request fails after a while, until a moment."""

    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        await asyncio.sleep(chance.uniform(0, slowest))
        if virtual_clock() < back_at:
            kinds: tuple[Kind, ...] = ("down", "timeout")
            raise CallError("connection refused", kind=chance.choice(kinds))
        return answer()

    return Provider(behave)


async def insist(gateway: Gateway, chance: random.Random, pause: float) -> None:
    """Ask again and again, whatever comes."""
    while True:
        with suppress(CallError):
            await gateway.chat(request(retries=chance.randint(0, 4)))
        await asyncio.sleep(chance.uniform(pause / 100, pause))


async def insist_for(seconds: float, gateway: Gateway, chance: random.Random, pause: float) -> None:
    """Let eight workers ask again and again, for so long."""
    workers = [asyncio.create_task(insist(gateway, chance, pause)) for _ in range(WORKERS)]
    await asyncio.sleep(seconds)
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    assert all(worker.cancelled() for worker in workers)


@pytest.mark.parametrize("slowest", [0.0, 0.5, 5.0, 50.0])
def test_p10_eight_workers_ask_a_dead_provider_hardly_ever(slowest: float, nightly: bool) -> None:
    async def scene(provider: Provider, chance: random.Random) -> None:
        async with gateway_to(provider, seed=chance.randint(0, 99)) as gateway:
            await insist_for(MINUTE, gateway, chance, pause=1.0)

    for seed in range(1_000 if nightly else 10):
        chance = random.Random(seed)
        provider = dead(chance, slowest)
        run_virtually(scene(provider, chance))
        assert MOST_FAILURES <= len(provider.asked) <= MOST_FAILURES + WORKERS


@pytest.mark.parametrize("slowest", [0.0, 5.0])
def test_p10_one_probe_finds_out_that_the_provider_is_back(slowest: float, nightly: bool) -> None:
    async def scene(provider: Provider, chance: random.Random) -> None:
        async with gateway_to(provider, seed=chance.randint(0, 99)) as gateway:
            while len(provider.asked) < MOST_FAILURES:
                with suppress(CallError):
                    await gateway.chat(request(retries=0))
            provider.peak = 0
            await insist_for(MINUTE - virtual_clock(), gateway, chance, pause=5.0)
            assert provider.peak == 1  # probes, one at a time
            probes = len(provider.asked) - MOST_FAILURES
            assert probes <= 2
            await insist_for(2 * MINUTE, gateway, chance, pause=5.0)
            assert len(provider.asked) > probes + 10 * WORKERS

    for seed in range(500 if nightly else 10):
        chance = random.Random(seed)
        run_virtually(scene(dead(chance, slowest, back_at=MINUTE), chance))


@virtually
async def test_p10_an_endpoint_that_is_out_takes_no_other_with_it() -> None:
    async def behave(name: str, _body: Mapping[str, Any]) -> ChatAnswer:
        if name == "dead":
            raise CallError("connection refused", kind="down")
        return answer(name)

    async with gateway_to(Provider(behave), model("dead"), model("alive")) as gateway:
        for _ in range(MOST_FAILURES + 1):
            with pytest.raises(CallError):
                await gateway.chat(request("dead", retries=0))
        assert (await gateway.chat(request("alive"))).text == "alive"
        assert virtual_clock() == 0
