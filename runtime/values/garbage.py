"""How often a process collects garbage while model calls wait in it."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator

SELDOM = (10_000, 20, 100)
"""The garbage collector's thresholds: new objects before a collection, and collections before one
of older objects (docs.python.org/3.11/library/gc.html#gc.set_threshold)."""


@contextlib.contextmanager
def collecting_seldom() -> Generator[None]:
    """Collect garbage a hundred times less often than Python's default.

    The objects of a waiting model call survive until its answer arrives. So many survive that
    Python would search all of them again and again: half of its time if 5,000 calls wait at once.
    Little of a run's garbage needs such a search.

    It affects the whole process, so only a command uses it, while it works.
    """
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
