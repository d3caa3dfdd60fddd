"""Retries: how often, how long in between, and what Retry-After says."""

import asyncio
import itertools
import random
from types import SimpleNamespace

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer
from coterie.runtime.gateway.rate_limiter import GAP, Pacing
from coterie.runtime.gateway.retry import LONGEST_WAIT, call_with_retries, retry_after

from ...virtual_time import run_virtually, virtual_clock, virtually

NOW = 1445412470.0
"""Ten seconds before 07:28 of 21 October 2015."""


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("2", 2.0),
        ("0.5", 0.5),
        ("0", 0.0),
        ("-3", None),
        ("nan", None),
        ("inf", LONGEST_WAIT),
        ("soon", None),
        ("", None),
        ("1000000000", LONGEST_WAIT),
        ("Wed, 99 Foo", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 10.0),
        ("Wed, 21 Oct 2015 07:27:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_WAIT),
    ],
)
def test_retry_after_in_seconds_as_a_date_or_nonsense(
    header: str | None, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.runtime.gateway.retry.time", SimpleNamespace(time=lambda: NOW))
    assert retry_after(header) == seconds


def waits(seed: int, *, retries: int = 4) -> list[float]:
    """Return the waits of a call that always fails."""
    values: list[float] = []

    async def fail() -> ChatAnswer:
        raise CallError("busy", kind="busy")

    async def scene() -> None:
        pacing = Pacing(random.Random(seed), clock=virtual_clock)
        await call_with_retries(fail, retries, lambda _error, wait: values.append(wait), pacing)

    with pytest.raises(CallError):
        run_virtually(scene())
    return values


def test_waits_have_full_jitter_and_double() -> None:
    limits = (0.5, 1, 2, 4)
    trials = [waits(seed) for seed in range(300)]
    for place, limit in enumerate(limits):
        column = sorted(trial[place] for trial in trials)
        assert 0 <= column[0] < limit * 0.1
        assert limit * 0.9 < column[-1] <= limit
    assert max(max(trial) for trial in (waits(seed, retries=12) for seed in range(20))) <= (
        LONGEST_WAIT
    )


@virtually
async def test_calls_that_come_back_at_once_are_moved_apart() -> None:
    pacing = Pacing(random.Random(1), clock=virtual_clock)
    moments = sorted(pacing.wait(0.0) for _ in range(20))
    assert all(b - a >= GAP - 1e-9 for a, b in itertools.pairwise(moments))
    assert moments[-1] <= 20 * GAP


@virtually
async def test_a_hold_keeps_back_whoever_comes_and_may_grow_meanwhile() -> None:
    pacing = Pacing(random.Random(1), clock=virtual_clock)
    passed: list[float] = []

    async def come() -> None:
        await pacing.passed()
        passed.append(virtual_clock())

    await come()
    pacing.hold(5)
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(come())
        await asyncio.sleep(4)
        pacing.hold(8)
        pacing.hold(1)
    free, *held = passed
    assert free == 0
    assert len(held) == 4
    assert min(held) >= 12
    assert max(held) < 13.5
