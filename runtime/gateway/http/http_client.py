"""Calls of endpoints over one connection pool."""

from __future__ import annotations

import io
import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

from ...values.bounds import LARGEST_ANSWER, apart
from ..chat.answer import failure_in, parsed, without
from ..chat.errors import CallError, too_large
from ..environment import shown_proxy
from ..stream_sink import StreamSink
from ..wires import WIRES
from .streamed import StreamedAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ..chat.body import Body
    from ..chat.messages import ChatAnswer
    from ..endpoint import Endpoint

PROXY_STATUSES = frozenset({407, 502, 503})
"""Statuses by which a proxy reports that it did not forward a request, or reached no server."""
LARGE_BODY = 1 << 20
"""Bytes from which a body is sent in pieces."""
SILENCE = aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=120)
"""Seconds that an endpoint may be silent when asked about a batch."""
IDLE_SECONDS = 1.5
"""Seconds to keep an idle connection for another request.

Servers close idle connections after 5 seconds (llama.cpp, uvicorn, Node) or more, and a request
sent at that moment is lost. aiohttp's default is 15."""


class HttpClient:
    """A connection pool for one event loop.

    Each call makes one request; nothing is sent twice here. After one connection broke, others that
    were idle may be closed, too, and a busy machine notices late. So until these are discarded,
    each request opens a new connection. So does each request to the embedded server: a local
    connection takes a tenth of a millisecond.
    """

    def __init__(self) -> None:
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self._trusted_from = -math.inf

    async def chat(
        self, endpoint: Endpoint, body: Body, sink: StreamSink | None = None
    ) -> ChatAnswer:
        """Make one request; see `Client.chat`."""
        content, headers = await self._content(endpoint, body, sink or StreamSink())
        return await apart(
            len(content),
            lambda: answer_in(endpoint, parsed(endpoint.shown, content), headers),
        )

    @asynccontextmanager
    async def response(
        self, endpoint: Endpoint, method: str, path: str, **sent: Any
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Request a path of the endpoint's API other than a model call.

        Args:
            sent: What to send, as aiohttp's arguments: `json`, `data`, `params`.

        Raises:
            CallError: The endpoint refuses it, or the connection breaks.
        """
        url, headers = endpoint.at(path), dict(endpoint.sent_headers)
        if isinstance(sent.get("data"), aiohttp.FormData):  # it sets its own content type
            del headers["Content-Type"]
        usual: dict[str, Any] = {"proxy": endpoint.proxy, "timeout": SILENCE, **sent}
        try:
            async with self._session(is_kept=False).request(
                method, url, headers=headers, allow_redirects=False, **usual
            ) as response:
                if response.status != 200:
                    words = without(endpoint.secrets, await read_bounded(response))
                    raise _refused(endpoint, url, response, words)
                yield response
        except (aiohttp.ClientError, OSError) as error:
            raise broken(endpoint, url, error) from None

    async def close(self) -> None:
        """Close all connections."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def _content(
        self, endpoint: Endpoint, body: Body, sink: StreamSink
    ) -> tuple[bytes, Mapping[str, str]]:
        """Return the content and the headers of a response.

        A request that was not sent completely is sent once more, on a new connection.
        """
        while True:
            is_kept = endpoint.kind != "local" and time.monotonic() >= self._trusted_from
            try:
                return await _exchange(self._session(is_kept=is_kept), endpoint, body, sink)
            except (aiohttp.ClientError, OSError) as error:
                self._trusted_from = time.monotonic() + IDLE_SECONDS
                if not (is_kept and _is_unsent(error)):
                    raise broken(endpoint, endpoint.shown, error) from None

    def _session(self, *, is_kept: bool) -> aiohttp.ClientSession:
        if is_kept not in self._sessions:
            # The gateway bounds concurrency and time per call, so the pool does not. It knows the
            # proxies too: a session that looks for them reads .netrc, and sends what is in it.
            if is_kept:
                connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS)
            else:
                connector = aiohttp.TCPConnector(limit=0, force_close=True)
            self._sessions[is_kept] = aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._sessions[is_kept]


async def _exchange(
    session: aiohttp.ClientSession, endpoint: Endpoint, body: Body, sink: StreamSink
) -> tuple[bytes, Mapping[str, str]]:
    wire, url, secrets = WIRES[endpoint.wire], endpoint.shown, endpoint.secrets
    read = read_bounded
    if body.is_streamed:
        read = StreamedAnswer(source=url, wire=wire, secrets=secrets, sink=sink).read
    async with session.post(
        url,
        data=_in_pieces(body.content),
        headers=endpoint.sent_headers,
        allow_redirects=False,
        proxy=endpoint.proxy,
    ) as response:
        if response.status != 200:
            data = without(secrets, await read_bounded(response))
            if failure := _proxy_refused(endpoint, url, response.status, data):
                raise failure
            raise _refused(endpoint, url, response, data)
        return without(secrets, await read(response)), response.headers


def _refused(
    endpoint: Endpoint, url: str, response: aiohttp.ClientResponse, content: bytes
) -> CallError:
    """Return the error of a response with another status than 200."""
    from .refusals import refusal

    has_key = endpoint.key is not None
    return refusal(url, response.status, response.headers, content, has_key=has_key)


def answer_in(
    endpoint: Endpoint, body: Mapping[str, Any], headers: Mapping[str, str]
) -> ChatAnswer:
    """Extract the answer from the body of a response with status 200.

    Raises:
        CallError: The body reports an error, or violates the API.
    """
    url = endpoint.shown
    if failure := failure_in(body):
        from .refusals import failed

        raise failed(url, failure, headers, has_key=endpoint.key is not None)
    return WIRES[endpoint.wire].answer(body, url)


def _in_pieces(content: bytes) -> bytes | io.BytesIO:
    """Send a large body in pieces: aiohttp blocks the event loop while it sends one of bytes."""
    return content if len(content) < LARGE_BODY else io.BytesIO(content)


async def read_bounded(response: aiohttp.ClientResponse) -> bytes:
    """Read a response of bounded size.

    Raises:
        CallError: The response is too large.
    """
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            response.close()
            raise too_large(str(response.url))
    return bytes(content)


def _is_unsent(error: Exception) -> bool:
    """Return whether a connection ended before the whole request was sent.

    aiohttp raises this error while writing, and wraps it once more if it was writing the body.
    """
    return isinstance(error.__cause__ or error, aiohttp.ClientConnectionResetError)


def broken(endpoint: Endpoint, url: str, error: Exception) -> CallError:
    """Return the error of a connection that failed or ended too early."""
    is_refused = isinstance(error, aiohttp.ClientHttpProxyError)
    is_connected = not (is_refused or isinstance(error, aiohttp.ClientConnectorError))
    if endpoint.proxy and not is_connected:
        # The error's own message may contain the proxy's password.
        return _proxy_failed(endpoint.proxy, url, error.status if is_refused else None)
    advice = "The connection was lost." if is_connected else "Is the endpoint running?"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        advice = "Set SSL_CERT_FILE to a file with the trusted certificate authorities."
    message = f"{url}: {error or type(error).__name__}. {advice}"
    return CallError(message, kind="down", may_be_billed=is_connected and not _is_unsent(error))


def _proxy_refused(endpoint: Endpoint, url: str, status: int, content: bytes) -> CallError | None:
    """Return the failure of a response from a proxy; None if the endpoint sent it.

    Without TLS, a proxy's response looks like the endpoint's. APIs report errors in JSON.
    """
    is_proxy = status in PROXY_STATUSES and not content.lstrip().startswith((b"{", b"["))
    if endpoint.proxy and url.startswith("http:") and is_proxy:
        return _proxy_failed(endpoint.proxy, url, status)
    return None


def _proxy_failed(proxy: str, url: str, status: int | None) -> CallError:
    """Return the failure of a proxy that forwarded nothing."""
    text = "unreachable" if status is None else f"HTTP {status}"
    return CallError(
        f"{url}: proxy {shown_proxy(proxy)}: {text}. It is set by HTTPS_PROXY, HTTP_PROXY or"
        " ALL_PROXY; list the hosts that need no proxy in NO_PROXY.",
        kind="down",
    )
