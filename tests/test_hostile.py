"""The watch over a loop sees what code holds it for, and not what earlier tests have left."""

from __future__ import annotations

import asyncio
import gc

import pytest

from .effort import TooDear, reference
from .hostile import watched


async def hold() -> None:
    for _ in range(30):
        reference()


def test_code_that_holds_the_loop_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooDear, match=r"units of effort at once: <Handle"), watched(monkeypatch):
        asyncio.run(hold())


def test_a_full_collection_of_what_stood_before_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each would take about 15 units."""
    left = [[number] for number in range(500_000)]

    async def collect() -> None:
        for _ in range(5):
            gc.collect()

    with watched(monkeypatch):
        asyncio.run(collect())
    assert len(left) == 500_000
