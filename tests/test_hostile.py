"""The watch over a loop sees what holds it, on any machine."""

import asyncio

import pytest

from .hostile import MOST_CALLS, watched


@pytest.mark.parametrize(("calls", "is_seen"), [(MOST_CALLS // 2, True), (MOST_CALLS // 4, False)])
def test_too_many_calls_show(calls: int, is_seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hold() -> None:
        for _ in range(2):
            await asyncio.sleep(0)
            for _ in range(calls):
                len("")

    def run() -> None:
        with watched(monkeypatch):
            asyncio.run(hold())

    if is_seen:
        with pytest.raises(AssertionError, match="calls at once: <Handle"):
            run()
    else:
        run()
