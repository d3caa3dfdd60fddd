"""Garbage is searched for less often while a command works, and as before afterwards."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

from coterie.runtime.collecting import collecting_seldom
from coterie.runtime.command.signals import to_the_end

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def as_python_does() -> Generator[None]:
    """Begin with the thresholds that Python has by itself; other tests have others."""
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


def searches() -> Counter[int]:
    """Keep many new objects; count the searches of each generation meanwhile."""
    made: Counter[int] = Counter()

    def note(phase: str, told: dict[str, Any]) -> None:
        made[told["generation"]] += phase == "start"

    gc.collect()
    gc.callbacks.append(note)
    try:
        kept = [[number] for number in range(150_000)]
    finally:
        gc.callbacks.remove(note)
    assert len(kept) == 150_000
    return made


def test_what_is_kept_is_seldom_searched() -> None:
    usually = searches()
    with collecting_seldom():
        seldom = searches()
    assert seldom.total() * 10 < usually.total()
    assert seldom[0] > 0  # it is not turned off
    assert gc.get_threshold() == USUAL


def test_a_command_collects_seldom_until_its_work_is_done() -> None:
    during: list[tuple[int, ...]] = []

    async def work(*, fails: bool) -> int:
        during.append(gc.get_threshold())
        if fails:
            raise ValueError("it failed")
        return 3

    assert to_the_end(work(fails=False), str) == 3
    assert gc.get_threshold() == USUAL
    with pytest.raises(ValueError, match="it failed"):
        to_the_end(work(fails=True), str)
    assert gc.get_threshold() == USUAL
    assert during[0] == during[1] > USUAL
