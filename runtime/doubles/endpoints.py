"""The server's paths: their answers, as a function of the request."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .completion import chat_chunks, chat_completion, embeddings, models
from .reply import Reply
from .script import Chooser, Request


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpRequest:
    """A received request. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json_object(self) -> dict[str, Any] | None:
        """Parse the body; None if it is not a JSON object."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointAnswer:
    """A reply and its encoded body."""

    reply: Reply
    content: bytes
    content_type: str = "application/json"


class Endpoints:
    """The paths of the server.

    Args:
        choose: Returns the reply to a chat request.
        key: The required key of requests; None admits everyone.
        latency: Seconds for chat replies without their own latency.
    """

    def __init__(self, choose: Chooser, *, key: str | None, latency: float) -> None:
        self._choose = choose
        self._key = key
        self._latency = latency

    def authorized(self, request: HttpRequest) -> bool:
        """Return whether the request carries the key, or no key is required."""
        header = request.headers.get("authorization", "")
        return self._key is None or hmac.compare_digest(
            header.encode(), f"Bearer {self._key}".encode()
        )

    def answer(self, request: HttpRequest, body: dict[str, Any] | None) -> EndpointAnswer:
        """Answer a request with a parsed body. Every failure is an answer too."""
        if not self.authorized(request):
            return _literal(_refusal(401, "The key is missing or wrong.", code="invalid_api_key"))
        match request.method, request.path.partition("?")[0]:
            case "POST", "/v1/chat/completions":
                return self._chat(body)
            case "POST", "/v1/embeddings":
                return _literal(_embed(body))
            case "GET", "/v1/models":
                return _literal(Reply(body=models()))
            case _:
                return _literal(_refusal(404, f"{request.method} {request.path} is not served."))

    def _chat(self, body: Request | None) -> EndpointAnswer:
        if body is None or not _has_messages(body):
            return _literal(_refusal(400, "Send a JSON object with a list of 'messages'."))
        replies = self._replies(body)
        if replies[0].body is not None:
            return _literal(replies[0])
        if body.get("stream"):
            content = chat_chunks(body, replies)
            return EndpointAnswer(
                reply=replies[0], content=content, content_type="text/event-stream"
            )
        return EndpointAnswer(reply=replies[0], content=chat_completion(body, replies))

    def _replies(self, request: Request) -> list[Reply]:
        """Choose one reply for each of `n` choices. An error replaces all choices."""
        chosen: list[Reply] = []
        try:
            for _ in range(request.get("n") or 1):
                reply = self._choose(request)
                chosen.append(reply if reply.latency else reply.replace(latency=self._latency))
                if reply.body is not None:
                    return chosen[-1:]
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything, and the client still needs an answer
            return [Reply.error(500, message=f"The script failed: {error!r}", code="script_failed")]
        return chosen


def _embed(body: Request | None) -> Reply:
    try:
        return Reply(body=embeddings(body or {}))
    except ValueError as error:
        return _refusal(400, f"{error}")


def _has_messages(body: Request) -> bool:
    messages: object = body.get("messages")
    if not isinstance(messages, list):
        return False
    return all(isinstance(message, dict) for message in cast("list[object]", messages))


def _refusal(status: int, message: str, *, code: str | None = None) -> Reply:
    return Reply.error(status, message=message, code=code)


def _literal(reply: Reply) -> EndpointAnswer:
    return EndpointAnswer(reply=reply, content=(reply.body or "").encode())
