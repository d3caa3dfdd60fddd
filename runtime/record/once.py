"""Actions that happen once in a run, however often the run is interrupted and resumed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol


class Once(Protocol):
    """Performs an action once."""

    async def __call__(
        self, kind: str, key: Any, work: Callable[[], Awaitable[Mapping[str, Any]]], /
    ) -> Mapping[str, Any]:
        """Return the recorded result; if missing, perform the action and record its result.

        Args:
            kind: The kind of action: `tool`, `code`.
            key: The JSON-able request. Equal requests count as repeated.
            work: Performs the action; returns a JSON object.

        Raises:
            NotRecorded: A replay has no such entry.
            StorageError: The result cannot be recorded.
        """
        ...


async def unkept(
    _kind: str, _key: Any, work: Callable[[], Awaitable[Mapping[str, Any]]], /
) -> Mapping[str, Any]:
    """Perform the action: an `Once` without a journal."""
    return await work()
