"""What calls of one model share: refusals, pauses and outages of one concern the others."""

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.runtime.gateway.breaker import FIRST_COOL_DOWN, MOST_FAILURES
from coterie.runtime.values.budget import Budget, BudgetReached, Caps

from ...provider import Provider, answer, gateway_to, in_turn, model, request
from ...virtual_time import virtual_clock, virtually


async def tried(gateway: Gateway, alias: str = "default", **fields: Any) -> str:
    """Ask; give the answer's text, or the kind of the failure."""
    try:
        return (await gateway.chat(request(alias, **fields))).text
    except CallError as error:
        return error.kind


@virtually
async def test_a_refusal_halves_the_calls_in_flight_and_answers_bring_them_back() -> None:
    flights: list[int] = []
    numbers = itertools.count()

    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        number = next(numbers)
        await asyncio.sleep(1)
        flights.append(provider.open)
        if number < 8:
            raise CallError("slow down", kind="busy")
        return answer()

    provider = Provider(behave)
    async with gateway_to(provider, model(concurrency=8)) as gateway:
        assert set(await asyncio.gather(*(tried(gateway) for _ in range(40)))) == {"four"}
    assert flights[0] == provider.peak == 8
    after = flights[8:]
    assert after[0] == 4
    assert max(after) == 8  # recovered


@virtually
async def test_other_models_and_other_calls_are_not_held_back() -> None:
    provider = Provider(
        in_turn(CallError("slow down", kind="busy", retry_after=10.0), answer(), answer())
    )
    async with gateway_to(provider, model("a"), model("b")) as gateway:
        assert await tried(gateway, "a", retries=0) == "busy"
        assert await tried(gateway, "b") == "four"
        assert virtual_clock() == 0


@virtually
async def test_aliases_of_the_same_model_share_and_the_narrower_bound_holds() -> None:
    provider = Provider(in_turn(*[1.0] * 8))
    wide = model("wide", model="m", concurrency=6)
    narrow = model("narrow", model="m", concurrency=2)
    async with gateway_to(provider, wide, narrow) as gateway:
        gateway.check(["wide", "narrow"])
        aliases = ["wide", "narrow"] * 4
        await asyncio.gather(*(tried(gateway, alias) for alias in aliases))
    assert provider.peak == 2


def dead_until(moment: float) -> Provider:
    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        await asyncio.sleep(0.01)
        if virtual_clock() < moment:
            raise CallError("connection refused", kind="down")
        return answer()

    return Provider(behave)


@virtually
async def test_an_endpoint_that_is_out_is_left_alone_and_asked_once_whether_it_is_back() -> None:
    provider = dead_until(20)
    async with gateway_to(provider) as gateway:
        failed = [await tried(gateway, retries=0) for _ in range(MOST_FAILURES + 5)]
        assert failed == ["down"] * (MOST_FAILURES + 5)
        assert len(provider.asked) == MOST_FAILURES
        assert (await asyncio.gather(*(tried(gateway, retries=1) for _ in range(8)))) == [
            "four"
        ] * 8
    assert len(provider.asked) == MOST_FAILURES + 8
    probe, *others = provider.moments[MOST_FAILURES:]
    assert probe >= FIRST_COOL_DOWN
    assert min(others) >= probe + 0.01


@virtually
async def test_busy_and_rejected_calls_do_not_open_the_breaker() -> None:
    errors = [CallError("no", kind="rejected"), CallError("later", kind="busy")] * 10
    provider = Provider(in_turn(*errors, answer()))
    async with gateway_to(provider) as gateway:
        for _ in errors:
            assert await tried(gateway, retries=0) in {"rejected", "busy"}
        assert await tried(gateway) == "four"


@pytest.mark.parametrize("way", ["cancelled", "no room in the budget"])
@virtually
async def test_a_probe_that_never_asks_leaves_the_next_call_to_find_out(way: str) -> None:
    provider = dead_until(10)
    async with gateway_to(provider) as gateway:
        for _ in range(MOST_FAILURES):
            await tried(gateway, retries=0)
        await asyncio.sleep(FIRST_COOL_DOWN)
        if way == "cancelled":
            probe = asyncio.create_task(tried(gateway))
            await asyncio.sleep(0.001)
            probe.cancel()
        else:
            with pytest.raises(BudgetReached):
                await gateway.chat(request(), budget=Budget(Caps(tokens=5)))
        assert await tried(gateway, retries=0) == "four"
