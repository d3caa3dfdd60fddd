"""How work grows with what it is done on: the only measurement of CPU that the tests make.

It compares work with eight times as much of it, at the same moment and in the same process, so that
a slow or busy machine slows down both. Where the code has something to count (calls, steps, bytes),
count that instead; what costs too much at once is found by an input on which it would never end.
"""

import gc
import time
from collections.abc import Callable

MORE = 8
"""How many times as large the larger input is."""
MOST = 24
"""How many times the CPU it may take: linear work takes 8 times, quadratic work 64."""
ATTEMPTS = 4
"""Of work that seems to grow too fast: a moment of the machine is not so each time."""


def grows_linearly(prepare: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Return whether work costs about as many times more as its input is larger.

    Only what `prepare` returns is measured.

    Args:
        prepare: Makes an input of a size, and returns the work on it.
        size: Of the smaller input; the work on it takes at least 5 ms.
    """
    small, large = prepare(size), prepare(MORE * size)
    return any(_seconds(large) <= MOST * _seconds(small) for _ in range(ATTEMPTS))


def _seconds(work: Callable[[], object]) -> float:
    """Return the CPU of this thread, without collections of what earlier tests left."""
    gc.disable()
    try:
        begun = time.thread_time()
        work()
        return time.thread_time() - begun
    finally:
        gc.enable()
