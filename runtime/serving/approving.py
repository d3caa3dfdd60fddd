"""Passes agents' questions on to clients: approvals of tool calls, and questions to a `Person`.

Without an answer in time, a call is denied, and a question waits for a file in the record's inbox.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .refusals import Refusal, bad_request

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from .server import ServedQuestion

_request: ContextVar[tuple[str, ServedQuestion] | None] = ContextVar("request", default=None)
"""The record that the current task works on, and the question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    run: str
    caller: str
    request: Mapping[str, Any]
    answer: asyncio.Future[Any]


@dataclass(eq=False)
class Approving:
    """Asks clients; an `Approver`, and its `respond` a `Responder`."""

    _pending: dict[str, _Pending] = field(default_factory=dict[str, _Pending])

    @contextmanager
    def during(self, run: str, question: ServedQuestion) -> Generator[None]:
        """Ask on behalf of a request during the body."""
        token = _request.set((run, question))
        try:
            yield
        finally:
            _request.reset(token)

    async def __call__(self, agent: str, tool: str, arguments: Any, /) -> bool:
        """Ask whether a tool may be called; see `Approver`."""
        request = {"agent": agent, "tool": tool, "arguments": arguments}
        return await self._answer(request) is True

    async def respond(self, question: str, /) -> str:
        """Ask the question to a `Person`; see `Responder`."""
        answer = await self._answer({"question": question})
        return answer if isinstance(answer, str) else ""

    async def _answer(self, about: Mapping[str, Any]) -> Any:
        """Wait for the client's answer, as long as its header allows; None without one."""
        if (request := _request.get()) is None or not request[1].answer_seconds:
            return None
        run, question = request
        key = secrets.token_urlsafe(12)
        self._pending[key] = pending = _Pending(
            run=run,
            caller=question.caller,
            request=about,
            answer=asyncio.get_running_loop().create_future(),
        )
        try:
            async with asyncio.timeout(question.answer_seconds):
                return await pending.answer
        except TimeoutError:
            return None
        finally:
            del self._pending[key]

    def waiting_for(self, caller: str) -> Iterator[dict[str, Any]]:
        """List what awaits a client's answer."""
        for key, pending in self._pending.items():
            if pending.caller == caller:
                yield {"id": key, "run": pending.run, **pending.request}

    def answer(self, caller: str, key: str, answer: bool | str) -> None:
        """Accept an answer: whether a call is allowed, or the reply of a `Person`.

        Raises:
            Refusal: This client has no such open question, or the answer does not fit it.
        """
        pending = self._pending.get(key)
        if pending is None or pending.caller != caller or pending.answer.done():
            raise Refusal(404, f"{key!r} is not waiting for an answer.", code="not_found")
        wanted = "answer" if "question" in pending.request else "allow"
        if isinstance(answer, str) != (wanted == "answer"):
            raise bad_request(f"expected {wanted!r}.", wanted)
        pending.answer.set_result(answer)
