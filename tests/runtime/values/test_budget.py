"""Budgets: what fits is reserved, what may fit waits, what cannot is refused."""

import asyncio
from typing import Any

import pytest

from coterie.runtime.values.budget import Budget, BudgetReached, Caps, Reservation
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError, LimitError

DEFAULTS: dict[str, Any] = {"tokens": 10, "usd": 0.0}


def reserving(budget: Budget, **amounts: Any) -> asyncio.Task[Reservation]:
    return asyncio.create_task(budget.reserve(**DEFAULTS | amounts))


async def settled() -> None:
    """Let every task go on that can."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_caps_are_read_as_people_type_them() -> None:
    caps = Caps.parse("usd=2, tokens=500000,calls=1e2 ,seconds=900.5")
    assert caps == Caps(usd=2.0, tokens=500_000, calls=100, seconds=900.5)
    assert caps.value() == {"usd": 2.0, "tokens": 500_000, "calls": 100, "seconds": 900.5}
    assert Caps.parse("usd=0.5").value() == {"usd": 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tokns=3", "no cap is named 'tokns'. Did you mean 'tokens'"),
        ("euros=3", "The caps are usd, tokens, calls, seconds"),
        ("", "no cap is named ''"),
        ("usd=1,", "no cap is named ''"),
        ("usd=1,usd=2", "usd occurs twice"),
        ("usd", "usd is ''. Write a number above 0"),
        ("usd=two", "usd is 'two'. Write a number above 0"),
        ("usd=nan", "usd is 'nan'"),
        ("seconds=inf", "seconds is 'inf'"),
        ("usd=1e999", "usd is '1e999'"),
        ("usd=0", "usd is '0'"),
        ("usd=-1", "usd is '-1'"),
        ("tokens=1.5", "tokens is '1.5'. Write a whole number above 0"),
        ("calls=1.5", "calls is '1.5'. Write a whole number above 0"),
    ],
)
def test_caps_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Caps.parse(text)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_caps_from_python_are_checked_too() -> None:
    with pytest.raises(InputError, match=r"the budget's usd is nan\. A cap is a number above 0"):
        Caps(usd=float("nan"))


async def test_what_fits_is_reserved_and_then_replaced_by_what_was_spent() -> None:
    budget = Budget(Caps(usd=1.0))
    for _ in range(9):
        reservation = await budget.reserve(tokens=100, usd=0.2)
        reservation.settle(Usage(calls=1, prompt_tokens=5, usd=0.1))
    assert budget.spent.usd == pytest.approx(0.9)
    assert (budget.spent.calls, budget.spent.tokens) == (9, 45)
    with pytest.raises(BudgetReached) as caught:
        await budget.reserve(tokens=100, usd=0.2)
    assert (caught.value.cap, caught.value.budget, caught.value.exit_code) == ("usd", budget, 3)
    assert isinstance(caught.value, LimitError)
    assert str(caught.value) == (
        "the run has reached its budget usd=1: $0.9000 was spent so far, and the next call may cost"
        " up to $0.2000. Raise usd, or lower max_tokens, to go on."
    )


async def test_what_is_exactly_the_cap_fits() -> None:
    budget = Budget(Caps(usd=0.3))
    (await budget.reserve(tokens=1, usd=0.1)).keep()
    (await budget.reserve(tokens=1, usd=0.2)).keep()  # in floats, 0.1 + 0.2 > 0.3


@pytest.mark.parametrize("caps", [Caps(tokens=10), Caps(calls=1), Caps(usd=0.5)])
async def test_the_first_call_may_use_up_a_cap(caps: Caps) -> None:
    agent = Budget(caps).child(caps, "agent a")
    (await agent.reserve(tokens=10, usd=0.5)).keep()


@pytest.mark.parametrize(
    ("caps", "cap", "message"),
    [
        (Caps(usd=0.5), "usd", r"agent a has reached its budget usd=0.5: nothing was spent so far"),
        (
            Caps(tokens=15),
            "tokens",
            "agent a has reached its budget tokens=15: 10 tokens were used",
        ),
        (Caps(calls=1), "calls", "agent a has reached its budget calls=1: 1 call made so far"),
    ],
)
async def test_every_cap_is_kept_and_says_whose_it_is(caps: Caps, cap: str, message: str) -> None:
    agent = Budget().child(caps, "agent a")
    (await agent.reserve(tokens=10, usd=0.0)).settle(Usage(calls=1, completion_tokens=10))
    with pytest.raises(BudgetReached, match=message) as caught:
        await agent.reserve(tokens=10, usd=0.6)
    assert caught.value.cap == cap


async def test_what_may_still_fit_waits_for_the_calls_in_flight() -> None:
    budget = Budget(Caps(usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.8)
    second = reserving(budget, usd=0.5)
    await settled()
    assert not second.done()
    first.settle(Usage(calls=1, usd=0.1))
    (await second).release()
    assert budget.spent.usd == pytest.approx(0.1)


async def test_who_waits_is_refused_once_it_can_no_longer_fit() -> None:
    budget = Budget(Caps(usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.8)
    second = reserving(budget, usd=0.5)
    await settled()
    first.settle(Usage(calls=1, usd=0.6))
    with pytest.raises(BudgetReached):
        await second


async def test_waiting_calls_are_served_in_order_and_no_small_one_overtakes() -> None:
    budget = Budget(Caps(calls=10, usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.6)
    large = reserving(budget, usd=0.8)
    small = reserving(budget, usd=0.1)  # would fit now
    await settled()
    assert not large.done()
    assert not small.done()
    first.release()
    assert (await large).usd == 0.8
    assert (await small).usd == 0.1


async def test_in_a_part_of_a_run_no_small_one_overtakes_either() -> None:
    part = Budget().child(Caps(usd=1.0))
    first = await part.reserve(tokens=1, usd=0.6)
    large, small = reserving(part, usd=0.8), reserving(part, usd=0.1)
    await settled()
    assert not small.done()
    first.release()
    await large


async def test_who_waits_for_its_own_budget_holds_nobody_else_back() -> None:
    run = Budget(Caps(usd=10.0))
    narrow, wide = run.child(Caps(usd=1.0), "agent narrow"), run.child(Caps(), "agent wide")
    held = await narrow.reserve(tokens=1, usd=0.9)
    waiting = reserving(narrow, usd=0.5)
    await settled()
    other = reserving(wide, usd=5.0)
    await settled()
    assert other.done()
    assert not waiting.done()
    held.release()
    await waiting


async def test_a_part_is_capped_by_all_it_belongs_to_and_counts_there() -> None:
    evolution = Budget(Caps(tokens=100), name="the evolution")
    run = evolution.child(Caps(tokens=1000), "run 7")
    agent = run.child(Caps(calls=5), "agent a")
    (await agent.reserve(tokens=60, usd=None)).settle(Usage(calls=1, prompt_tokens=60))
    assert evolution.spent == run.spent == agent.spent
    with pytest.raises(BudgetReached, match="the evolution has reached") as caught:
        await agent.reserve(tokens=60, usd=None)
    assert caught.value.budget is evolution


async def test_a_call_that_cost_more_than_was_reserved_is_counted_in_full() -> None:
    budget = Budget(Caps(usd=1.0))
    (await budget.reserve(tokens=1, usd=0.5)).settle(Usage(calls=1, usd=3.0))
    assert budget.spent.usd == 3.0
    with pytest.raises(BudgetReached):
        await budget.reserve(tokens=1, usd=0.0, calls=0)


async def test_a_call_that_may_have_been_billed_counts_as_reserved_and_is_shown_apart() -> None:
    budget = Budget()
    (await budget.reserve(tokens=30, prompt_tokens=10, usd=0.06)).keep()
    (await budget.reserve(tokens=30, usd=0.06)).settle(Usage(calls=1, usd=0.01))
    spent = budget.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (2, 10, 20)
    assert (spent.uncertain_calls, spent.uncertain_usd) == (1, 0.06)
    assert spent.usd == pytest.approx(0.07)
    assert budget.spent.cost == (
        "$0.0700, of which $0.0600 for 1 call that ended without an answer"
    )
    (await budget.reserve(tokens=30, usd=None)).keep()
    assert budget.spent.unpriced_calls == 1


async def test_a_reservation_ends_once() -> None:
    reservation = await Budget().reserve(tokens=1, usd=0.1)
    reservation.release()
    with pytest.raises(RuntimeError, match="ended already"):
        reservation.keep()


async def test_a_caller_that_is_cancelled_while_it_waits_leaves_no_trace() -> None:
    budget = Budget(Caps(usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.8)
    gone = reserving(budget, usd=0.9)
    behind = reserving(budget, usd=0.1)
    await settled()
    gone.cancel()
    await settled()
    (await behind).release()
    first.release()
    (await budget.reserve(tokens=1, usd=1.0)).release()


async def test_a_caller_that_is_cancelled_just_when_served_gives_its_room_back() -> None:
    budget = Budget(Caps(usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.8)
    served = reserving(budget, usd=0.9)
    refused = reserving(budget, usd=0.9)
    await settled()
    first.settle(Usage(calls=1, usd=0.1))
    served.cancel()
    await settled()
    (await refused).release()
    assert served.cancelled()
    (await budget.reserve(tokens=1, usd=0.9)).release()


async def test_a_caller_cancelled_before_others_settle_is_not_served() -> None:
    budget = Budget(Caps(usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.8)
    gone = reserving(budget, usd=0.9)
    await settled()
    gone.cancel()
    first.settle(Usage(calls=1, usd=0.1))  # before the cancelled task runs
    await settled()
    assert gone.cancelled()
    (await budget.reserve(tokens=1, usd=0.9)).release()


async def test_a_refused_caller_that_is_cancelled_at_once_takes_nothing() -> None:
    budget = Budget(Caps(usd=1.0))
    first = await budget.reserve(tokens=1, usd=0.8)
    refused = reserving(budget, usd=0.9)
    await settled()
    first.settle(Usage(calls=1, usd=0.5))
    refused.cancel()
    await settled()
    assert refused.cancelled()
    rest = await budget.reserve(tokens=1, usd=0.5)
    behind = reserving(budget, usd=0.5)
    await settled()
    assert not behind.done()
    rest.release()
    (await behind).release()


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_time_is_a_cap_here_and_in_parents() -> None:
    clock = Clock()
    run = Budget(Caps(seconds=10), clock=clock)
    agent = run.child(Caps(seconds=30), "agent a")
    assert Budget(clock=clock).left() is None
    assert agent.left() == 10
    clock.now += 4
    assert (agent.seconds, agent.left()) == (4, 6)
    clock.now += 10
    assert agent.left() == 0
    with pytest.raises(BudgetReached, match="the run has reached its budget seconds=10") as caught:
        await agent.reserve(tokens=1, usd=0.0)
    assert (caught.value.cap, caught.value.budget) == ("seconds", run)
    assert (run.reached, agent.reached) == ({"seconds"}, set())


async def test_what_an_earlier_process_spent_counts_as_spent() -> None:
    clock = Clock()
    evolution = Budget(Caps(usd=2.0), name="the evolution", clock=clock)
    run = evolution.child(Caps(seconds=60), "the run")
    run.deposit(Usage(calls=3, usd=1.5), seconds=50)
    assert (evolution.spent.usd, run.seconds, run.left()) == (1.5, 50, 10)
    with pytest.raises(BudgetReached, match="the evolution has reached"):
        await run.reserve(tokens=1, usd=0.6)


async def test_what_a_part_spent_before_counts_there_only() -> None:
    run = Budget()
    run.deposit(Usage(calls=2))
    agent = run.child(Caps(calls=2), "agent a", spent=Usage(calls=2))
    assert run.spent.calls == agent.spent.calls == 2
    with pytest.raises(BudgetReached, match="agent a"):
        await agent.reserve(tokens=1, usd=None)
