"""The driver's connection to a worker."""

from __future__ import annotations

from typing import Any, Protocol


class WorkerLost(Exception):
    """The worker no longer answers; the message gives the reason, as far as it is known."""


class Link(Protocol):
    """A connection to the `JailWorker` of one worker. Every method may be called from any thread.

    * Must raise `WorkerLost` in all waiting calls, soon after the worker ended.
    """

    @property
    def name(self) -> str:
        """The worker's name in messages."""
        ...

    def ask(self, method: str, *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
        """Call a method of the worker and wait for its answer.

        Raises:
            WorkerLost: The worker ended, or did not answer in `seconds`.
            JailError: The method raised it.
        """
        ...

    def tell(self, method: str, *arguments: Any) -> None:
        """Call a method of the worker without waiting for its answer."""
        ...
