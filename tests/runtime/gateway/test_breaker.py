"""The circuit breaker: an endpoint that is out is left alone, and one call finds out."""

import asyncio

import pytest

from coterie.runtime.gateway import CallError
from coterie.runtime.gateway.breaker import FIRST_COOL_DOWN, MOST_FAILURES, Breaker

DOWN = CallError("connection refused", kind="down")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("http://host (m)", clock=clock)


def opened(breaker: Breaker) -> Breaker:
    for _ in range(MOST_FAILURES):
        breaker.failed(DOWN)
    return breaker


async def probing(breaker: Breaker, clock: Clock, others: int) -> list[asyncio.Task[bool]]:
    """Let one call be the probe of an endpoint that is out, while others wait."""
    opened(breaker)
    clock.now += FIRST_COOL_DOWN
    assert await breaker.admit() is True
    waiting = [asyncio.create_task(breaker.admit()) for _ in range(others)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    return waiting


def test_a_probe_of_one_loop_decides_for_those_of_another(breaker: Breaker, clock: Clock) -> None:
    opened(breaker)
    clock.now += FIRST_COOL_DOWN
    assert asyncio.run(breaker.admit())

    async def patient() -> bool:
        waiting = asyncio.create_task(breaker.admit())
        await asyncio.sleep(0)
        await asyncio.to_thread(breaker.answered)
        return await waiting

    assert asyncio.run(patient()) is False


def test_failures_in_a_row_open_it(breaker: Breaker) -> None:
    for _ in range(MOST_FAILURES - 1):
        breaker.failed(DOWN)
    breaker.answered()
    for _ in range(MOST_FAILURES - 1):
        breaker.failed(DOWN)
    assert asyncio.run(breaker.admit()) is False
    breaker.failed(DOWN)
    with pytest.raises(CallError):
        asyncio.run(breaker.admit())


def test_while_open_it_says_since_when_why_and_for_how_long(breaker: Breaker, clock: Clock) -> None:
    breaker.failed(DOWN)
    clock.now += 12
    for _ in range(MOST_FAILURES - 1):
        breaker.failed(DOWN)
    clock.now += 3
    with pytest.raises(CallError) as caught:
        asyncio.run(breaker.admit())
    assert str(caught.value) == (
        "http://host (m) failed 5 times in a row over 15 seconds and is not called for another 27;"
        " the last failure: connection refused"
    )
    assert (caught.value.kind, caught.value.retry_after) == ("down", FIRST_COOL_DOWN - 3)
    assert not caught.value.may_be_billed


async def test_after_the_cool_down_one_call_is_the_probe(breaker: Breaker, clock: Clock) -> None:
    others = await probing(breaker, clock, 3)
    with pytest.raises(CallError):
        await breaker.admit(patient=False)
    breaker.answered()
    assert await asyncio.gather(*others) == [False, False, False]


async def test_a_failed_probe_sends_the_others_away_for_longer(
    breaker: Breaker, clock: Clock
) -> None:
    [other] = await probing(breaker, clock, 1)
    breaker.failed(CallError("still out", kind="timeout"), probe=True)
    with pytest.raises(CallError, match="still out") as caught:
        await other
    assert caught.value.retry_after == 2 * FIRST_COOL_DOWN


async def test_a_probe_without_an_outcome_yields_to_the_next(
    breaker: Breaker, clock: Clock
) -> None:
    others = await probing(breaker, clock, 2)
    breaker.undone(probe=True)
    assert await others[0] is True
    assert not others[1].done()
    breaker.answered()
    assert await others[1] is False


async def test_who_waits_for_the_probe_can_be_cancelled(breaker: Breaker, clock: Clock) -> None:
    gone, stays = await probing(breaker, clock, 2)
    gone.cancel()
    await asyncio.sleep(0)
    breaker.answered()
    assert await stays is False
    assert gone.cancelled()


def test_calls_that_were_under_way_do_not_extend_an_outage(breaker: Breaker, clock: Clock) -> None:
    opened(breaker)
    clock.now += FIRST_COOL_DOWN / 2
    breaker.failed(DOWN)
    breaker.undone(probe=False)
    clock.now += FIRST_COOL_DOWN / 2
    assert asyncio.run(breaker.admit()) is True
