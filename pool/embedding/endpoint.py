"""Vectors from an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ...runtime.gateway import CallError
from ...runtime.gateway.retry import retry_after
from ...schema.values.problems import quoted
from .protocol import Vector, unit

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    import aiohttp

    from ...runtime.gateway import Endpoint
    from ...runtime.gateway.chat.errors import Kind

LONGEST_TEXT = 8_000
"""Maximum characters of a text to send: about 2,000 tokens, which embedding models accept."""
WAITS = (0.5, 2.0)
"""Seconds before the second and the third attempt, unless the endpoint sets them."""
LARGEST_ANSWER = 64 << 20


class EndpointEmbedder:
    """Calls an endpoint's `/embeddings`. All texts of a call go in one request.

    Args:
        endpoint: The model's address, with the key for it.
        timeout: Seconds for one request, to the last byte of its answer.
    """

    def __init__(self, endpoint: Endpoint, *, timeout: float = 60.0) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._url = f"{endpoint.api_base}/embeddings"
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """The model and its address: two servers may use one name for different models."""
        return f"{self._endpoint.model}@{self._endpoint.api_base}"

    @property
    def dimension(self) -> int:
        """The length of a vector. The first access requests one from the endpoint."""
        if self._dimension is None:
            self._dimension = len(self.embed(["dimension"])[0])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text; only its first 8,000 characters count.

        Raises:
            CallError: The endpoint returned no valid vectors, after up to three attempts.
        """
        return _finished(self._embed([text[:LONGEST_TEXT] for text in texts])) if texts else []

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        for wait in WAITS:
            try:
                return await self._attempt(texts)
            except CallError as error:
                if not error.may_pass:
                    raise
                seconds = error.retry_after or wait
            await asyncio.sleep(seconds)
        return await self._attempt(texts)

    async def _attempt(self, texts: Sequence[str]) -> list[Vector]:
        import aiohttp

        from ...runtime.gateway.http.http_client import broken

        # An input may not be empty.
        body = {"model": self._endpoint.model, "input": [text or " " for text in texts]}
        try:
            async with asyncio.timeout(self._timeout):
                content = await self._post(json.dumps(body).encode())
        except TimeoutError:
            message = f"{self._url}: no whole answer within {self._timeout:g} seconds."
            raise CallError(message, kind="timeout") from None
        except (aiohttp.ClientError, OSError) as error:
            raise broken(self._endpoint, self._url, error) from None
        return self._vectors(content, len(texts))

    async def _post(self, body: bytes) -> bytes:
        import aiohttp

        headers = {"Content-Type": "application/json"}
        headers |= self._endpoint.credentials
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session,
            session.post(
                self._url,
                data=body,
                headers=headers,
                allow_redirects=False,
                proxy=self._endpoint.proxy,
            ) as response,
        ):
            content = await _bounded(response.content, self._url)
            if response.status != 200:
                seconds = retry_after(response.headers.get("Retry-After"))
                raise self._refusal(response.status, content, seconds)
            return content

    def _refusal(self, status: int, content: bytes, seconds: float | None) -> CallError:
        text = quoted(content.decode(errors="replace"))
        return CallError(
            f"{self._url}: HTTP {status}: {text}",
            kind=_kind(status),
            status=status,
            retry_after=seconds,
        )

    def _vectors(self, content: bytes, count: int) -> list[Vector]:
        try:
            items = sorted(json.loads(content)["data"], key=lambda item: item["index"])
            vectors = [unit(item["embedding"]) for item in items]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise self._malformed(f"the answer has no vectors: {error!r}") from None
        if len(vectors) != count:
            raise self._malformed(f"{len(vectors)} vectors for {count} texts")
        if len({len(vector) for vector in vectors}) > 1:
            raise self._malformed("vectors of different lengths")
        return vectors

    def _malformed(self, problem: str) -> CallError:
        return CallError(f"{self._url}: {problem}.", kind="malformed")


async def _bounded(stream: aiohttp.StreamReader, url: str) -> bytes:
    try:
        await stream.readexactly(LARGEST_ANSWER + 1)
    except asyncio.IncompleteReadError as end:
        return end.partial
    raise CallError(f"{url}: more than {LARGEST_ANSWER >> 20} MiB.", kind="malformed")


def _kind(status: int) -> Kind:
    kinds: dict[int, Kind] = {401: "denied", 403: "denied", 404: "unknown"}
    if status >= 500:
        return "down"
    return kinds.get(status, "busy" if status in {408, 409, 425, 429} else "rejected")


def _finished(work: Coroutine[Any, Any, list[Vector]]) -> list[Vector]:
    """Run a coroutine to its end, even if the caller's thread has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
