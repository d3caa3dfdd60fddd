"""Waiting for what other threads and processes do, with patience for a busy machine.

No verdict depends on how long something takes: what a test waits for comes, or never does.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds after which something hangs, however busy the machine is."""


def wait_for(condition: Callable[[], T], what: object, seconds: float = PATIENCE) -> T:
    """Wait until a condition holds, and return what it returned.

    Raises:
        AssertionError: It does not hold in time; `what` says what was waited for.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
    return value


def time_that_passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what lets seconds pass for all who look at `time.monotonic`."""
    passed, clock = [0.0], time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + sum(passed))
    return passed.append
