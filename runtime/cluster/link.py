"""The driver's line to a worker."""

from __future__ import annotations

from typing import Any, Protocol


class WorkerLost(Exception):
    """Nobody answers any more; the text says why, as far as it is known."""


class Link(Protocol):
    """A line to the `Host` of one worker. Every method may be called from any thread.

    * Must raise `WorkerLost` in everyone who waits, soon after the worker ended.
    """

    @property
    def name(self) -> str:
        """What people call the worker."""
        ...

    def ask(self, method: str, *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
        """Call a method of the host and wait for its answer.

        Raises:
            WorkerLost: The worker ended, or did not answer in `seconds`.
            JailError: The method raised it.
        """
        ...

    def tell(self, method: str, *arguments: Any) -> None:
        """Call a method of the host and do not wait for its answer."""
        ...
