"""Calls of OpenAI-compatible endpoints, over one pool of connections."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

import aiohttp

from ...schema.problems import quoted
from ...schema.values import is_mapping
from .chat import ChatAnswer, ToolCall, Usage
from .errors import CallError, Kind
from .retry import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .endpoint import Endpoint

__all__ = ["OpenAIClient", "answer_of"]

LARGEST_ANSWER = 32 << 20
UNSUPPORTED = ("unsupported_parameter", "unsupported_value")
OVERFLOW_SIGNS = ("context_length", "context length", "exceed_context", "maximum context")


class OpenAIClient:
    """A pool of connections for one event loop. One request per call; nothing is retried here."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def chat(self, endpoint: Endpoint, body: Mapping[str, Any], timeout: float) -> ChatAnswer:
        """Make one call.

        Args:
            endpoint: Where to.
            body: The request as the API has it.
            timeout: Seconds from the start to the last byte of the answer.

        Raises:
            CallError: No answer, or not one that the API promises.
        """
        headers = {"Content-Type": "application/json"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        url = f"{endpoint.api_base}/chat/completions"
        try:
            async with asyncio.timeout(timeout):
                status, reply_headers, content = await self._post(url, headers, body)
        except TimeoutError:
            message = f"{url}: no whole answer within {timeout:g} seconds."
            raise CallError(message, kind="timeout") from None
        except (aiohttp.ClientError, OSError) as error:
            message = f"{url}: {error or type(error).__name__}. Is the endpoint running?"
            raise CallError(message, kind="down") from None
        if status != 200:
            raise _refusal(url, status, reply_headers, content)
        return answer_of(_parsed(url, content), url)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(
        self, url: str, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, str], bytes]:
        async with self._pool().post(
            url, data=json.dumps(body).encode(), headers=headers, allow_redirects=False
        ) as response:
            content = await _bounded(response)
            return response.status, response.headers, content

    def _pool(self) -> aiohttp.ClientSession:
        if self._session is None:
            # The gateway bounds concurrency and time per call, so the pool does not.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    if response.content_length is not None and response.content_length <= LARGEST_ANSWER:
        return await response.read()
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            response.close()
            raise CallError(
                f"{response.url}: an answer of more than {LARGEST_ANSWER >> 20} MiB.",
                kind="malformed",
            )
    return bytes(content)


def answer_of(body: Mapping[str, Any], source: str) -> ChatAnswer:
    """Take the answer out of a response of the chat API.

    Raises:
        CallError: The response has no choice with a message.
    """
    try:
        choice = body["choices"][0]
        message: Mapping[str, Any] = choice["message"]
        text = message.get("content") or ""
        calls = tuple(_tool_call(call) for call in message.get("tool_calls") or ())
    except (KeyError, IndexError, TypeError, AttributeError):
        raise CallError(
            f"{source}: the answer has no choices[0].message: {quoted(body)}.", kind="malformed"
        ) from None
    return ChatAnswer(
        text=text if isinstance(text, str) else json.dumps(text),
        tool_calls=calls,
        finish_reason=str(choice.get("finish_reason") or "stop"),
        usage=_usage(body.get("usage")),
        model=str(body.get("model") or ""),
    )


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function: Mapping[str, Any] = call["function"]
    arguments = function.get("arguments", "")
    return ToolCall(
        id=str(call.get("id") or ""),
        name=str(function["name"]),
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
    )


def _usage(usage: Any) -> Usage:
    """Read what the endpoint says; counts that are missing or below zero do not count as told."""
    told = cast("Mapping[str, Any]", usage if is_mapping(usage) else {})
    prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    details = told.get("prompt_tokens_details")
    cached = (
        _count(cast("Mapping[str, Any]", details).get("cached_tokens"))
        if is_mapping(details)
        else None
    )
    return Usage(
        calls=1,
        prompt_tokens=prompt or 0,
        cached_tokens=min(cached or 0, prompt or 0),
        completion_tokens=completion or 0,
        unmetered_calls=int(prompt is None or completion is None),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _parsed(url: str, content: bytes) -> Mapping[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        message = f"{url}: the answer is not JSON: {quoted(content[:200])}."
        raise CallError(message, kind="malformed") from None
    if not is_mapping(body):
        raise CallError(f"{url}: the answer is not a JSON object.", kind="malformed")
    return cast("Mapping[str, Any]", body)


def _refusal(url: str, status: int, headers: Mapping[str, str], content: bytes) -> CallError:
    said = _error_text(content)
    kind = _kind(status, said)
    advice = {
        "denied": " Is the key right, and is it meant for this endpoint?",
        "unknown": " Are the model's name and the address right?",
        "overflow": " The prompt is longer than the model's context.",
    }.get(kind, "")
    return CallError(
        f"{url}: HTTP {status}: {said}{advice}",
        kind=kind,
        status=status,
        retry_after=retry_after(headers.get("Retry-After")),
        parameter=_unsupported(content),
    )


def _unsupported(content: bytes) -> str | None:
    """Find the parameter that the endpoint says it does not support, as OpenAI's errors name it."""
    try:
        error = json.loads(content)["error"]
        return str(error["param"]) if error["code"] in UNSUPPORTED else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _kind(status: int, said: str) -> Kind:
    if status in {408, 409, 425, 429}:
        return "busy"
    if status in {401, 403}:
        return "denied"
    if status == 404:
        return "unknown"
    if status >= 500:
        return "down"
    if any(sign in said.lower() for sign in OVERFLOW_SIGNS):
        return "overflow"
    return "rejected"


def _error_text(content: bytes) -> str:
    """Find the endpoint's own words; a page of HTML is cut to its beginning."""
    try:
        error = json.loads(content)["error"]
        said = (
            error if isinstance(error, str) else f"{error.get('message')} {error.get('type') or ''}"
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        said = content[:200].decode("utf-8", "replace")
    return " ".join(said.split())[:500] or "no explanation"
