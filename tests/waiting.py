"""Patience: the only place where tests look at the clock, and no verdict depends on how long it is.

What waits for an event has an event; these are for conditions that nobody reports: a file that
another process writes, a process that ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator

PATIENCE = 120.0
"""Seconds after which what a test waits for has hung, however busy the machine is."""
INTERVAL = 0.01
"""Seconds between looks."""

Condition = Callable[[], object]


def wait_until(condition: Condition, what: object) -> None:
    """Wait until a condition holds.

    Args:
        condition: Looked at again and again, until it is true.
        what: What the failure says where it never is. A function is called then.
    """
    for _ in _looks(condition, what):
        time.sleep(INTERVAL)


async def wait_until_async(condition: Condition, what: object) -> None:
    """Wait until a condition holds, and let the loop turn meanwhile."""
    for _ in _looks(condition, what):
        await asyncio.sleep(INTERVAL)


def _looks(condition: Condition, what: object) -> Generator[None]:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what() if callable(what) else what
        yield
