"""An agent whose jail is lost with the machine that it was on goes on in another one.

It is run again as the same attempt: the journal answers what it was answered before, so it comes
to where it was without asking anyone anything twice. Without a journal, memory does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ...schema.values.errors import JailError

MOST_MOVES = 5
"""How often one agent, or one verdict, is moved: what loses every machine is no accident."""

T = TypeVar("T")


def is_lost(error: JailError) -> bool:
    """Return whether a jail failed because the machine that it was on is gone."""
    from .process import JailLost  # not always: it brings all of the jail along

    return isinstance(error, JailLost)


class Moves:
    """The moves of one agent.

    Args:
        remembers: Whether to keep what it is answered, as no journal does.
    """

    def __init__(self, *, remembers: bool) -> None:
        self.count = 0
        self._answers: dict[str, object] | None = {} if remembers else None
        self._counted: set[str] = set()

    def again(self) -> bool:
        """Take note that its jail was lost, and say whether it is moved once more."""
        self.count += 1
        return self.count <= MOST_MOVES

    def counts(self, path: str) -> bool:
        """Return whether an answer is counted now: each is once, however often it is given."""
        is_new = path not in self._counted
        self._counted.add(path)
        return is_new

    async def once(self, path: str, work: Callable[[], Awaitable[T]]) -> T:
        """Return what was answered under a path before the agent was moved, or ask."""
        if self._answers is None:
            return await work()
        if path not in self._answers:
            self._answers[path] = await work()
        return self._answers[path]  # type: ignore[return-value] # the same path, the same kind
