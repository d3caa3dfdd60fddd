"""One model's line: what each attempt reserves and costs, and how long it may take."""

import asyncio
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, ToolRequest
from coterie.runtime.gateway.chat.errors import Kind
from coterie.runtime.values.budget import Budget, BudgetReached, Caps
from coterie.runtime.values.usage import Usage

from ...provider import PRICED, Provider, answer, gateway_to, in_turn, model, request
from ...virtual_time import run_virtually, virtual_clock, virtually


def failure(kind: Kind = "down", *, billed: bool = False, **more: Any) -> CallError:
    return CallError(f"it is {kind}", kind=kind, may_be_billed=billed, **more)


def asked(
    *outcomes: ChatAnswer | CallError | float, caps: Caps | None = None, **fields: Any
) -> tuple[ChatAnswer | Exception, Budget, Provider, float]:
    """Ask once; give what came of it, the budget, the provider and the seconds that it took."""
    of_model = {name: fields.pop(name) for name in ("timeout",) if name in fields}
    provider = Provider(in_turn(*outcomes))

    async def scene() -> tuple[ChatAnswer | Exception, Budget, Provider, float]:
        budget = Budget(caps or Caps(), clock=virtual_clock)
        async with gateway_to(provider, model(**PRICED, **of_model)) as gateway:
            try:
                result = await gateway.chat(request(**fields), budget=budget)
            except (CallError, BudgetReached) as error:
                result = error
            return result, budget, provider, virtual_clock()

    return run_virtually(scene())


def test_an_attempt_is_reserved_at_its_highest_price_and_settled_at_its_real_one() -> None:
    result, budget, _, _ = asked(answer(prompt=10, completion=2), caps=Caps(usd=0.01))
    assert isinstance(result, ChatAnswer)
    assert result.usage == budget.spent
    assert (result.usage.calls, result.usage.tokens) == (1, 12)
    assert result.usage.usd == pytest.approx(14e-6)
    refused, _, provider, _ = asked(answer(), caps=Caps(usd=0.008), max_tokens=4096)
    assert isinstance(refused, BudgetReached)
    assert provider.asked == []


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (failure("busy", status=429), 0),
        (failure("down", status=500), 0),
        (failure("down", billed=True), 1),
        (failure("malformed", billed=True), 1),
    ],
)
def test_what_a_failed_attempt_may_have_cost_is_counted(error: CallError, kept: int) -> None:
    result, budget, provider, _ = asked(error, answer(), max_tokens=100, retries=1)
    assert isinstance(result, ChatAnswer)
    assert result.usage == budget.spent
    assert result.attempts == len(provider.asked) == 2
    assert (budget.spent.calls, budget.spent.uncertain_calls) == (1 + kept, kept)
    assert (budget.spent.completion_tokens == 102) is bool(kept)
    if kept:
        assert 100 * 2e-6 < budget.spent.uncertain_usd < 300 * 2e-6


def test_a_call_that_fails_tells_what_it_may_have_cost() -> None:
    result, budget, _, _ = asked(*[failure("malformed", billed=True)] * 2, retries=1)
    assert isinstance(result, CallError)
    assert result.usage == budget.spent
    assert result.usage.uncertain_calls == 2


def test_usage_that_was_not_told_is_settled_at_the_larger_of_estimate_and_what_was_told() -> None:
    low = ChatAnswer(text="x" * 80, usage=Usage(calls=1, prompt_tokens=3, unmetered_calls=1))
    result, budget, _, _ = asked(low)
    assert isinstance(result, ChatAnswer)
    assert result.usage == budget.spent
    assert result.usage.completion_tokens == 40
    assert 40 < result.usage.prompt_tokens < 100  # half a token for each byte of the request
    assert result.usage.unmetered_calls == 1
    high = ChatAnswer(
        text="x",
        usage=Usage(calls=1, prompt_tokens=900, completion_tokens=70, unmetered_calls=1),
    )
    result, _, _, _ = asked(high)
    assert isinstance(result, ChatAnswer)
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (900, 70)


def test_a_model_whose_calls_ended_in_an_error_is_shown_that_with_the_next_try() -> None:
    call = ToolRequest(id="c1", name="remove", arguments='{"path": "/"}')
    failed = [ChatAnswer(text="", tool_calls=(call,), finish_reason=x) for x in ("error", "odd")]
    result, _, provider, _ = asked(*failed, answer(), retries=2)
    assert isinstance(result, ChatAnswer)
    assert (result.attempts, result.tool_calls) == (3, ())
    first, *later = ([*body["messages"]] for body in provider.bodies)
    for word, messages in zip(("error", "odd"), later, strict=True):
        *before, written, report = messages
        assert before == first
        assert written == {"role": "assistant", "content": 'remove {"path": "/"}'}
        assert f"ended with '{word}' in its calls. Nothing was executed" in report["content"]


def test_no_attempt_takes_longer_than_the_models_timeout() -> None:
    result, budget, provider, seconds = asked(1000.0, 1000.0, timeout=7, retries=1)
    assert isinstance(result, CallError)
    assert (result.kind, result.may_be_billed) == ("timeout", True)
    assert "no whole answer within 7 seconds" in str(result)
    assert budget.spent.uncertain_calls == len(provider.asked) == 2
    assert 14 <= seconds <= 14.5


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        ([1000.0], "a call that hangs"),
        ([failure("busy", retry_after=50.0), answer()], "a wait for a retry"),
        ([failure("down")] * 9, "a wait for an endpoint that is out"),
    ],
)
def test_a_cap_on_time_ends_whatever_the_call_is_at(outcomes: list[Any], why: str) -> None:
    result, budget, provider, seconds = asked(
        *outcomes, caps=Caps(seconds=20, tokens=10**9), retries=8, timeout=600
    )
    assert isinstance(result, BudgetReached), why
    assert result.cap == "seconds"
    assert seconds == 20
    assert provider.open == 0
    assert budget._reserved == [0, 0, 0]


@virtually
async def test_a_call_that_is_cancelled_in_flight_may_have_been_billed() -> None:
    provider = Provider(in_turn(1000.0))
    budget = Budget(Caps(tokens=10**9), clock=virtual_clock)
    async with gateway_to(provider, model(**PRICED)) as gateway:
        call = asyncio.create_task(gateway.chat(request(), budget=budget))
        await asyncio.sleep(1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert (budget.spent.uncertain_calls, provider.open) == (1, 0)
    assert budget._reserved == [0, 0, 0]


def test_a_model_is_asked_again_without_what_it_does_not_support_at_no_cost() -> None:
    result, budget, provider, _ = asked(
        failure("rejected", status=400, words="'temperature' is not supported"),
        failure("rejected", status=400, words="'max_tokens' is not supported"),
        answer(),
        temperature=0.5,
        retries=0,
    )
    assert isinstance(result, ChatAnswer)
    assert (result.attempts, len(provider.asked), budget.spent.calls) == (1, 3, 1)


@virtually
async def test_calls_wait_for_room_in_the_budget_that_others_give_back() -> None:
    provider = Provider(in_turn(5.0, 5.0, 5.0))
    budget = Budget(Caps(usd=0.0012), clock=virtual_clock)
    async with gateway_to(provider, model(**PRICED)) as gateway:
        wanted = request(max_tokens=500)
        await asyncio.gather(*(gateway.chat(wanted, budget=budget) for _ in range(3)))
        with pytest.raises(BudgetReached):
            await gateway.chat(request(max_tokens=600), budget=budget)
    assert (provider.peak, virtual_clock()) == (1, 15)
    assert budget.spent.usd == pytest.approx(3 * 14e-6)
