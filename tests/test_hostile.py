"""The watch over a loop sees what code holds it for, and not what earlier tests have left."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

from .hostile import watched


def test_code_that_holds_the_loop_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hold() -> None:
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass

    with watched(monkeypatch) as loop:
        asyncio.run(hold())
    assert loop.longest >= 0.05
    assert loop.what


def test_a_full_collection_of_what_stood_before_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = [[number] for number in range(500_000)]

    async def collect() -> float:
        before = time.thread_time()
        gc.collect()
        return time.thread_time() - before

    with watched(monkeypatch) as loop:
        took = asyncio.run(collect())
    assert len(left) == 500_000
    assert loop.longest < took / 2
