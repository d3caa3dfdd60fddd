"""Continue an agent in a new jail after the machine with its old one was lost.

The agent runs again as the same attempt. The journal replays its previous answers, so it reaches
the same state without asking anyone twice. Without a journal, memory replays them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ...schema.values.errors import JailError

MOST_MOVES = 5
"""The most moves of one agent or one verdict: losing every machine is no accident."""

T = TypeVar("T")


def is_lost(error: JailError) -> bool:
    """Return whether a jail failed because its machine is gone."""
    from .process import JailLost  # only when needed: it imports all of the jail

    return isinstance(error, JailLost)


class Moves:
    """The moves of one agent.

    Args:
        remembers: Whether to keep previous answers in memory, because no journal does.
    """

    def __init__(self, *, remembers: bool) -> None:
        self.count = 0
        self._answers: dict[str, object] | None = {} if remembers else None
        self._counted: set[str] = set()

    def again(self) -> bool:
        """Record the loss of a jail, and return whether the agent may move once more."""
        self.count += 1
        return self.count <= MOST_MOVES

    def counts(self, path: str) -> bool:
        """Return whether to count an answer now: each counts once, however often it is replayed."""
        is_new = path not in self._counted
        self._counted.add(path)
        return is_new

    async def once(self, path: str, work: Callable[[], Awaitable[T]]) -> T:
        """Return the answer recorded under a path before the agent moved, or obtain it."""
        if self._answers is None:
            return await work()
        if path not in self._answers:
            self._answers[path] = await work()
        return self._answers[path]  # type: ignore[return-value] # the same path, the same kind
