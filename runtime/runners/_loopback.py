"""An agent's line to its model as an OpenAI-compatible endpoint, for programs that want one."""

from __future__ import annotations

import json
import secrets
import time
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from ...schema.errors import AgentError, CoterieError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..gateway import ChatAnswer
    from .protocol import ModelLine

__all__ = ["LoopbackEndpoint"]

HOST = "127.0.0.1"
LARGEST_REQUEST = 32 << 20
"""Bytes of one request."""


class LoopbackEndpoint:
    """Forwards chat calls to a line, for whoever has its key. An async context manager.

    After the first failure it refuses every call, in the way that clients take for final: the
    gateway has done the retrying.

    Args:
        line: Where calls go.
        calls: How many are forwarded.

    Attributes:
        api_base: Its address, inside the context.
        key: What clients must send as bearer token.
        failure: Why it refuses calls; None while it does not.
    """

    def __init__(self, line: ModelLine, *, calls: int) -> None:
        self.api_base = ""
        self.key = secrets.token_urlsafe(32)
        self.failure: CoterieError | None = None
        self._line = line
        self._calls = calls
        self._left = calls
        application = web.Application(client_max_size=LARGEST_REQUEST)
        application.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(
            application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        self.api_base = f"http://{HOST}:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "").encode()
        if not secrets.compare_digest(given, f"Bearer {self.key}".encode()):
            return _refusal(401, "wrong key")
        body = await request.json(loads=json.loads)
        if body.get("stream") or body.get("n") not in {None, 1}:
            return _refusal(400, "neither streams nor several choices are served")
        try:
            return web.json_response(_completion(await self._forwarded(body)))
        except CoterieError as error:
            self.failure = error
            return _refusal(401, str(error))

    async def _forwarded(self, body: Mapping[str, Any]) -> ChatAnswer:
        if self.failure is not None:
            raise self.failure
        if self._left == 0:
            raise AgentError(f"it used its {self._calls} steps without handing in its work.")
        self._left -= 1
        return await self._line.chat(
            body["messages"],
            max_tokens=body.get("max_tokens"),
            stop=_texts(body.get("stop")),
            tools=body.get("tools") or (),
            tool_choice=body.get("tool_choice"),
        )


def _texts(stop: Any) -> list[str]:
    return [stop] if isinstance(stop, str) else list(stop or ())


def _refusal(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "code": None}
    return web.json_response({"error": error}, status=status)


def _completion(answer: ChatAnswer) -> dict[str, Any]:
    """Write an answer as the chat API has it."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(answer.tool_calls)
        ]
    usage = answer.usage
    return {
        "id": f"chatcmpl-{secrets.token_hex(8)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.tokens,
        },
    }
