"""How often a process looks for garbage while calls of models wait in it."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator

SELDOM = (10_000, 20, 100)
"""How many new objects there are before they are searched, and how often before the older ones are
(docs.python.org/3.11/library/gc.html#gc.set_threshold)."""


@contextlib.contextmanager
def collecting_seldom() -> Generator[None]:
    """Search the whole memory for garbage a hundred times less often than Python does by itself.

    Whatever belongs to a call that waits for a model has survived when the answer comes, and so
    many survive that Python would search all of them again and again: half of its time where 5,000
    calls wait at once. Little of what a run leaves is garbage that only such a search finds.

    It holds for the process, so only a command says it, for the time of its work.
    """
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
