"""Calls of OpenAI-compatible endpoints, over one pool of connections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import aiohttp

from ..scrubber import SHORTEST
from .answer import answer_of, parsed
from .errors import GIVEN_UP_ON, CallError, kind_of
from .retry import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .body import Body
    from .chat import ChatAnswer
    from .endpoint import Endpoint

__all__ = ["OpenAIClient"]

LARGEST_ANSWER = 8 << 20
"""Bytes, many times what a model writes: a larger answer is none."""
UNSUPPORTED = ("unsupported_parameter", "unsupported_value")


class OpenAIClient:
    """A pool of connections for one event loop. One request per call; nothing is retried here."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def chat(self, endpoint: Endpoint, body: Body) -> ChatAnswer:
        """Make one request; see `Client.chat`.

        Raises:
            CallError: No answer, or not one that the API promises.
        """
        headers = {"Content-Type": "application/json"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        url = endpoint.shown
        try:
            status, reply_headers, content = await self._post(url, headers, body.content)
        except (aiohttp.ClientError, OSError) as error:
            raise _broken(url, error) from None
        content = _without(endpoint.key, content)
        if status != 200:
            raise _refusal(url, status, reply_headers, content)
        return answer_of(parsed(url, content), url)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(
        self, url: str, headers: Mapping[str, str], content: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        async with self._pool().post(
            url, data=content, headers=headers, allow_redirects=False
        ) as response:
            return response.status, response.headers, await _bounded(response)

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
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            response.close()
            raise CallError(
                f"{response.url}: an answer of more than {LARGEST_ANSWER >> 20} MiB.",
                kind="malformed",
                may_be_billed=True,
            )
    return bytes(content)


def _without(key: str | None, content: bytes) -> bytes:
    """Take out the key that was sent, before a cut could leave a part of it."""
    return content.replace(key.encode(), b"[secret]") if key and len(key) >= SHORTEST else content


def _broken(url: str, error: Exception) -> CallError:
    """Tell of a connection that could not be made, or that ended too early."""
    made = not isinstance(error, aiohttp.ClientConnectorError)
    advice = "The connection broke." if made else "Is the endpoint running?"
    message = f"{url}: {error or type(error).__name__}. {advice}"
    return CallError(message, kind="down", may_be_billed=made)


def _refusal(url: str, status: int, headers: Mapping[str, str], content: bytes) -> CallError:
    said = _error_text(content)
    kind = kind_of(status, said)
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
        may_be_billed=status in GIVEN_UP_ON,
    )


def _unsupported(content: bytes) -> str | None:
    """Find the parameter that the endpoint says it does not support, as OpenAI's errors name it."""
    try:
        error = json.loads(content)["error"]
        return str(error["param"]) if error["code"] in UNSUPPORTED else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


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
