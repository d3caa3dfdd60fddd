"""The record of a scripted model's calls, readable from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .reply import Reply
from .script import message_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request and its answer.

    Attributes:
        headers: Names in lower case, without the authorization.
        authorized: Whether the authorization had the server's key; True if the server has none.
        body: The JSON object in the request; None without one.
        reply: The answer; the first choice if the request wanted several.
        started: When the request was complete, in seconds of `time.monotonic`.
        finished: When the last byte was written or the client had left; None until then.
        abandoned: Whether the connection closed before the answer was sent.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    authorized: bool
    body: dict[str, Any] | None
    reply: Reply
    started: float
    finished: float | None = None
    abandoned: bool = False

    @property
    def text(self) -> str:
        """All text of the request's messages; empty for a request without messages."""
        return message_text(self.body) if self.body and "messages" in self.body else ""


class CallRecord:
    """Keeps the calls in the order of their arrival. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: list[Call] = []
        self._running = 0
        self._peak = 0

    def begin(self, call: Call) -> int:
        """Record a new call and return its number, from 0."""
        with self._changed:
            self._calls.append(call)
            self._running += 1
            self._peak = max(self._peak, self._running)
            self._changed.notify_all()
            return len(self._calls) - 1

    def end(self, number: int, *, abandoned: bool = False) -> None:
        """Record that a call is over. Ending it twice changes nothing."""
        with self._changed:
            call = self._calls[number]
            if call.finished is not None:
                return
            self._calls[number] = replace(call, finished=time.monotonic(), abandoned=abandoned)
            self._running -= 1
            self._changed.notify_all()

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far."""
        with self._changed:
            return tuple(self._calls)

    @property
    def peak(self) -> int:
        """The largest number of calls that were open at the same time."""
        return self._peak

    def wait_for(
        self, condition: Callable[[tuple[Call, ...]], bool], timeout: float
    ) -> tuple[Call, ...]:
        """Block until the calls meet a condition, and return them.

        Raises:
            TimeoutError: They did not within `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: condition(tuple(self._calls)), timeout):
                raise TimeoutError(
                    f"the {len(self._calls)} calls that arrived did not meet the condition"
                    f" within {timeout} s ({self._running} are open)"
                )
            return tuple(self._calls)
