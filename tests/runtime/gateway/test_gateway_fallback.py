"""Fallbacks: another model answers where one fails, and everybody can see which it was."""

import asyncio
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.runtime.gateway.breaker import MOST_FAILURES
from coterie.runtime.gateway.chat.errors import REFUSALS, Kind
from coterie.runtime.values.budget import Budget, BudgetReached, Caps
from coterie.schema import InputError

from ...provider import PRICED, Provider, answer, gateway_to, model, request
from ...virtual_time import run_virtually, virtual_clock, virtually

Told = list[tuple[str, str]]


def failing(**kinds: Kind) -> Provider:
    """A provider whose named models fail in these ways; the others answer with their name."""

    async def behave(name: str, _body: Mapping[str, Any]) -> ChatAnswer:
        await asyncio.sleep(0.01)
        if name in kinds:
            raise CallError(f"{name} is {kinds[name]}", kind=kinds[name])
        return answer(name)

    return Provider(behave)


def ask(
    provider: Provider, fallbacks: Mapping[str, tuple[str, ...]], **fields: Any
) -> tuple[ChatAnswer, Told]:
    report: Told = []

    async def scene() -> ChatAnswer:
        models = [model(alias, fallback=names) for alias, names in fallbacks.items()]
        async with gateway_to(provider, *models) as gateway:
            return await gateway.chat(
                request(**fields),
                on_fallback=lambda error, alias: report.append((error.kind, alias)),
            )

    return run_virtually(scene()), report


@pytest.mark.parametrize("kind", sorted(REFUSALS))
def test_a_refused_key_or_model_goes_to_a_fallback_only_where_it_is_asked_for(kind: Kind) -> None:
    provider = failing(default=kind)
    with pytest.raises(CallError) as caught:
        ask(provider, {"default": ("spare",), "spare": ()})
    assert (caught.value.kind, provider.asked) == (kind, ["default"])

    async def scene() -> ChatAnswer:
        models = [model("default", fallback=("spare",), fallback_on_refusal=True), model("spare")]
        async with gateway_to(provider, *models) as gateway:
            return await gateway.chat(request())

    assert run_virtually(scene()).alias == "spare"


@pytest.mark.parametrize(
    "kind", [kind for kind in get_args(Kind) if kind not in {"rejected", *REFUSALS}]
)
def test_a_fallback_answers_after_the_retries_are_used_up(kind: Kind) -> None:
    provider = failing(default=kind)
    result, report = ask(provider, {"default": ("spare",), "spare": ()}, retries=2)
    attempts = 3 if CallError("", kind=kind).may_pass else 1
    assert provider.asked == ["default"] * attempts + ["spare"]
    assert (result.text, result.alias, result.attempts) == ("spare", "spare", 1)
    assert report == [(kind, "spare")]


def test_no_fallback_is_asked_what_is_wrong_in_itself() -> None:
    provider = failing(default="rejected")
    with pytest.raises(CallError, match="default is rejected"):
        ask(provider, {"default": ("spare",), "spare": ()})
    assert provider.asked == ["default"]


def test_the_model_that_was_asked_answers_for_itself_where_it_can() -> None:
    result, report = ask(failing(), {"default": ("spare",), "spare": ()})
    assert (result.alias, report) == ("default", [])


def test_fallbacks_come_in_order_with_their_own_fallbacks_and_each_once() -> None:
    provider = failing(default="overflow", a="overflow", b="overflow", c="overflow")
    fallbacks = {"default": ("a", "c"), "a": ("b", "c"), "b": ("default",), "c": (), "d": ()}
    with pytest.raises(CallError) as caught:
        ask(provider, fallbacks)
    assert provider.asked == ["default", "a", "b", "c"]
    assert str(caught.value) == (
        "c is overflow (Before it failed 'default': default is overflow; 'a': a is overflow;"
        " 'b': b is overflow)"
    )
    assert caught.value.kind == "overflow"


@virtually
async def test_who_has_a_fallback_does_not_wait_for_an_endpoint_that_is_out() -> None:
    provider = failing(default="down")
    models = model(fallback=("spare",)), model("spare")
    async with gateway_to(provider, *models) as gateway:
        for _ in range(4):
            assert (await gateway.chat(request(retries=2))).alias == "spare"
        seconds = virtual_clock()
    assert provider.asked.count("default") == MOST_FAILURES
    assert seconds < 10


@virtually
async def test_every_attempt_is_paid_at_the_price_of_its_model() -> None:
    provider = failing(default="overflow")
    budget = Budget(Caps(usd=1.0), clock=virtual_clock)
    models = model(fallback=("spare",), **PRICED), model("spare", **PRICED)
    async with gateway_to(provider, *models) as gateway:
        await gateway.chat(request(), budget=budget)
    assert budget.spent.usd == pytest.approx(14e-6)


@virtually
async def test_a_budget_that_is_used_up_is_no_reason_to_ask_another_model() -> None:
    provider = failing()
    models = model(fallback=("spare",)), model("spare")
    async with gateway_to(provider, *models) as gateway:
        with pytest.raises(BudgetReached):
            await gateway.chat(request(), budget=Budget(Caps(tokens=9)))
    assert provider.asked == []


def test_fallbacks_are_checked_before_any_call() -> None:
    async def check(*models: Any, **options: Any) -> None:
        async with Gateway({item.alias: item for item in models}, environment={}) as gateway:
            gateway.check(["default"], **options)

    keyless = model("spare", key_env="NO_SUCH_KEY")
    with pytest.raises(InputError, match="NO_SUCH_KEY is not set"):
        asyncio.run(check(model(fallback=("spare",)), keyless))
    with pytest.raises(InputError, match="no model 'spare'"):
        asyncio.run(check(model(fallback=("spare",))))
    unpriced = model(fallback=("spare",), **PRICED), model("spare", usd_per_mtok_input=1.0)
    asyncio.run(check(*unpriced))
    with pytest.raises(InputError) as caught:
        asyncio.run(check(*unpriced, priced=True))
    assert str(caught.value) == (
        "the price of model 'spare' (alias 'spare') is unknown, so a limit in USD cannot be"
        " enforced. Write its usd_per_mtok_input and usd_per_mtok_output in models.yaml (0 if"
        " free), or add --allow-unpriced."
    )
    asyncio.run(check(model(**PRICED), priced=True))


def test_a_fallback_does_not_read_what_is_kept_for_the_model_that_failed() -> None:
    read: dict[str, Any] = {}

    async def behave(name: str, body: Mapping[str, Any]) -> ChatAnswer:
        read[name] = body["messages"][1]
        if name == "default":
            raise CallError("it is down", kind="down")
        return answer(name)

    fields = {
        "role": "assistant",
        "content": "so",
        "reasoning_content": "hm",
        "kept_for": "default",
    }
    fallbacks: Mapping[str, tuple[str, ...]] = {"default": ("spare",), "spare": ()}
    ask(Provider(behave), fallbacks, messages=[{"role": "user", "content": "q"}, fields], retries=0)
    assert read["default"] == {"role": "assistant", "content": "so", "reasoning_content": "hm"}
    assert read["spare"] == {"role": "assistant", "content": "so"}
