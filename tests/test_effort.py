"""Work that grows too fast is seen on a machine that is busy at some moments, and no other work."""

import random
from collections.abc import Callable

import pytest

from . import effort
from .effort import grows_linearly


@pytest.mark.parametrize(("power", "is_linear"), [(1, True), (2, False), (3, False)])
@pytest.mark.parametrize("seed", range(20))
def test_work_that_grows_too_fast_is_seen(
    power: int, is_linear: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock of its own, on which a moment takes up to twice the time of another."""
    draws = random.Random(seed)
    now = 0.0

    def prepare(size: int) -> Callable[[], None]:
        def work() -> None:
            nonlocal now
            now += size**power * draws.uniform(1, 2)

        return work

    monkeypatch.setattr(effort.time, "thread_time", lambda: now)
    assert grows_linearly(prepare, 10) == is_linear
