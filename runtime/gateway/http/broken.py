"""Errors of requests without a complete response because of the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

from ..chat.errors import CallError
from .proxies import shown_proxy

if TYPE_CHECKING:
    from ..endpoint import Endpoint

PROXY_STATUSES = frozenset({407, 502, 503})
"""Statuses by which a proxy reports that it did not forward a request, or reached no server."""


def is_unsent(error: Exception) -> bool:
    """Return whether a connection ended before the whole request was sent.

    aiohttp raises this error while writing, and wraps it once more if it was writing the body.
    """
    return isinstance(error.__cause__ or error, aiohttp.ClientConnectionResetError)


def broken(endpoint: Endpoint, url: str, error: Exception) -> CallError:
    """Return the error of a connection that failed or ended too early.

    Args:
        url: The requested URL, for messages.
        error: The error from aiohttp or the system.
    """
    is_refused = isinstance(error, aiohttp.ClientHttpProxyError)
    is_connected = not (is_refused or isinstance(error, aiohttp.ClientConnectorError))
    if endpoint.proxy and not is_connected:
        # The error's own message may contain the proxy's password.
        return proxy_failed(endpoint.proxy, url, error.status if is_refused else None)
    advice = "The connection broke." if is_connected else "Is the endpoint running?"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        advice = "SSL_CERT_FILE names a file of the authorities that are trusted."
    message = f"{url}: {error or type(error).__name__}. {advice}"
    return CallError(message, kind="down", may_be_billed=is_connected and not is_unsent(error))


def proxy_refused(endpoint: Endpoint, url: str, status: int, content: bytes) -> CallError | None:
    """Return the failure of a response from a proxy; None if the endpoint sent it.

    Without TLS, a proxy's response looks like the endpoint's. APIs report errors in JSON.
    """
    is_proxy = status in PROXY_STATUSES and not content.lstrip().startswith((b"{", b"["))
    if endpoint.proxy and url.startswith("http:") and is_proxy:
        return proxy_failed(endpoint.proxy, url, status)
    return None


def proxy_failed(proxy: str, url: str, status: int | None) -> CallError:
    """Return the failure of a proxy that forwarded nothing."""
    text = "it cannot be reached" if status is None else f"HTTP {status}"
    return CallError(
        f"{url}: the proxy {shown_proxy(proxy)}: {text}. It is the one that HTTPS_PROXY,"
        " HTTP_PROXY or ALL_PROXY names; NO_PROXY names hosts that need none.",
        kind="down",
    )
