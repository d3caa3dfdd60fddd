"""Approvals over HTTP: a client that wants to be asked allows or denies calls of tools.

Without such a client, or in time without its answer, the call is denied.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from .server import Question

__all__ = ["Approving"]

_request: ContextVar[tuple[str, Question] | None] = ContextVar("request", default=None)
"""The record that the current task works on, and the question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    run: str
    caller: str
    agent: str
    tool: str
    arguments: Any
    allowed: asyncio.Future[bool]


@dataclass(eq=False)
class Approving:
    """Asks clients; an `Approver`."""

    _pending: dict[str, _Pending] = field(default_factory=dict[str, _Pending])

    @contextmanager
    def during(self, run: str, question: Question) -> Generator[None]:
        """Ask on behalf of a request during the body."""
        token = _request.set((run, question))
        try:
            yield
        finally:
            _request.reset(token)

    async def __call__(self, agent: str, tool: str, arguments: Any, /) -> bool:
        """Wait for the client's answer, as long as it said; see `Approver`."""
        if (request := _request.get()) is None or not request[1].approval_seconds:
            return False
        run, question = request
        key = secrets.token_urlsafe(12)
        self._pending[key] = pending = _Pending(
            run=run,
            caller=question.caller,
            agent=agent,
            tool=tool,
            arguments=arguments,
            allowed=asyncio.get_running_loop().create_future(),
        )
        try:
            async with asyncio.timeout(question.approval_seconds):
                return await pending.allowed
        except TimeoutError:
            return False
        finally:
            del self._pending[key]

    def waiting_for(self, caller: str) -> Iterator[dict[str, Any]]:
        """List the calls that wait for an answer of a client."""
        for key, call in self._pending.items():
            if call.caller == caller:
                what = {"agent": call.agent, "tool": call.tool, "arguments": call.arguments}
                yield {"id": key, "run": call.run, **what}

    def answer(self, caller: str, key: str, *, allowed: bool) -> None:
        """Allow or deny a call.

        Raises:
            Refusal: Nothing of that name waits for this client.
        """
        call = self._pending.get(key)
        if call is None or call.caller != caller or call.allowed.done():
            raise Refusal(404, f"no call {key!r} waits for an answer.", code="not_found")
        call.allowed.set_result(allowed)
