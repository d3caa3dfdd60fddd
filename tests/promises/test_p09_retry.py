"""P9: only what may pass is tried again, as often as allowed, when asked, and not all at once."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer
from coterie.runtime.gateway.breaker import MOST_FAILURES
from coterie.runtime.gateway.chat.errors import Kind, kind_of
from coterie.runtime.gateway.retry import LONGEST_WAIT, retry_after

from ..provider import Provider, answer, gateway_to, request
from ..virtual_time import run_virtually, virtual_clock, virtually

WORKERS = 8
MAY_PASS = {"busy", "down", "timeout", "malformed"}
RETRYABLE = {408, 409, 425, 429} | set(range(500, 600))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_p9_attempts_are_those_allowed_and_not_one_more(kind: Kind) -> None:
    histogram: Counter[int] = Counter()

    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        raise CallError("no", kind=kind)

    async def ask(retries: int) -> None:
        provider = Provider(behave)
        async with gateway_to(provider) as gateway:
            with pytest.raises(CallError):
                await gateway.chat(request(retries=retries))
        histogram[len(provider.asked)] += 1

    for retries in range(MOST_FAILURES):  # more, and an endpoint that is out is left alone
        run_virtually(ask(retries))
    allowed = range(1, MOST_FAILURES + 1) if kind in MAY_PASS else [1] * MOST_FAILURES
    assert histogram == Counter(allowed)


def test_p9_of_all_statuses_only_those_that_may_pass_are_retried() -> None:
    retried = {
        status for status in range(400, 600) if CallError("", kind=kind_of(status, "")).may_pass
    }
    assert retried == RETRYABLE


def header_of(form: str | timedelta | None) -> str | None:
    """Return a Retry-After header: a text as it is, a time from now as a date."""
    if not isinstance(form, timedelta):
        return form
    return (datetime.now(UTC) + form).strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize(
    ("form", "least", "most"),
    [
        (None, 0.0, 0.0),
        ("2", 2.0, 2.0),
        (timedelta(hours=1), LONGEST_WAIT, LONGEST_WAIT),
        (timedelta(hours=-1), 0.0, 0.0),
    ],
)
def test_p9_workers_refused_together_come_back_apart_and_not_too_early(
    form: str | timedelta | None, least: float, most: float, nightly: bool
) -> None:
    trials, apart = 2_000 if nightly else 30, 0
    for seed in range(trials):
        moments = come_back(retry_after(header_of(form)), seed)
        assert len(moments) == WORKERS
        assert min(moments) >= least
        assert max(moments) <= most + 0.5 + WORKERS * 0.1
        apart += all(b - a > 0.05 for a, b in itertools.pairwise(sorted(moments)))
    assert apart > 0.9 * trials


def come_back(asked: float | None, seed: int) -> list[float]:
    """Refuse eight workers at once; give the seconds after which each of them comes back."""
    chance = random.Random(seed)

    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        first = len(provider.asked) <= WORKERS
        await asyncio.sleep(0.001 if first else chance.uniform(0, 0.02))
        if first:
            raise CallError("slow down", kind="busy", retry_after=asked)
        return answer()

    provider = Provider(behave)

    async def scene() -> None:
        async with gateway_to(provider, seed=seed) as gateway:
            await asyncio.gather(*(gateway.chat(request(retries=1)) for _ in range(WORKERS)))

    run_virtually(scene())
    refused, again = provider.moments[:WORKERS], provider.moments[WORKERS:]
    assert set(refused) == {0.0}
    return [moment - 0.001 for moment in again]


@virtually
async def test_p9_workers_that_come_later_are_held_back_too() -> None:
    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        if len(provider.asked) == 1:
            raise CallError("slow down", kind="busy", retry_after=30.0)
        return answer()

    provider = Provider(behave)
    async with gateway_to(provider) as gateway:

        async def come(delay: float) -> None:
            await asyncio.sleep(delay)
            await gateway.chat(request(retries=1))

        await asyncio.gather(*(come(delay) for delay in range(WORKERS)))
        assert virtual_clock() < 32
    _, *others = sorted(provider.moments)
    assert len(others) == WORKERS
    assert min(others) >= 30
    assert all(b - a > 0.05 for a, b in itertools.pairwise(others))
