"""What happens once in a run, however often the run is interrupted and resumed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol


class Once(Protocol):
    """Has something happen once."""

    async def __call__(
        self, kind: str, key: Any, work: Callable[[], Awaitable[Mapping[str, Any]]], /
    ) -> Mapping[str, Any]:
        """Find the result in the run's journal; else do it, and write down the result.

        Args:
            kind: What it is: `tool`, `code`.
            key: What is wanted, JSON-able. What is alike counts as asked again.
            work: Does it; gives a JSON object.

        Raises:
            NotRecorded: A replay has no such entry.
            StorageError: The result cannot be written down.
        """
        ...


async def unkept(
    _kind: str, _key: Any, work: Callable[[], Awaitable[Mapping[str, Any]]], /
) -> Mapping[str, Any]:
    """Do it: an `Once` for where no journal is kept."""
    return await work()
