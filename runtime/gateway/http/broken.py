"""Why a request got no whole response, where the connection is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

from ..chat.errors import CallError
from .proxies import shown_proxy

if TYPE_CHECKING:
    from ..endpoint import Endpoint

PROXY_STATUSES = frozenset({407, 502, 503})
"""With which a proxy says that it did not send a request on, or that nobody took it."""


def is_unsent(error: Exception) -> bool:
    """Return whether a connection had ended before all of a request went out.

    aiohttp raises that where it writes, and wraps it once more where that was the body.
    """
    return isinstance(error.__cause__ or error, aiohttp.ClientConnectionResetError)


def broken(endpoint: Endpoint, url: str, error: Exception) -> CallError:
    """Tell of a connection that could not be made, or that ended too early.

    Args:
        url: What was asked for, for messages.
        error: What aiohttp, or the system, says.
    """
    is_refused = isinstance(error, aiohttp.ClientHttpProxyError)
    is_connected = not (is_refused or isinstance(error, aiohttp.ClientConnectorError))
    if endpoint.proxy and not is_connected:
        # What the error itself says may have the proxy's password in it.
        return proxy_failed(endpoint.proxy, url, error.status if is_refused else None)
    advice = "The connection broke." if is_connected else "Is the endpoint running?"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        advice = "SSL_CERT_FILE names a file of the authorities that are trusted."
    message = f"{url}: {error or type(error).__name__}. {advice}"
    return CallError(message, kind="down", may_be_billed=is_connected and not is_unsent(error))


def proxy_refused(endpoint: Endpoint, url: str, status: int, content: bytes) -> CallError | None:
    """Return the failure of a response that is a proxy's own; None where it is the endpoint's.

    A proxy answers for an endpoint without TLS as that would. APIs tell of errors in JSON.
    """
    is_proxy = status in PROXY_STATUSES and not content.lstrip().startswith((b"{", b"["))
    if endpoint.proxy and url.startswith("http:") and is_proxy:
        return proxy_failed(endpoint.proxy, url, status)
    return None


def proxy_failed(proxy: str, url: str, status: int | None) -> CallError:
    """Return the failure of a proxy, which sent nothing on."""
    text = "it cannot be reached" if status is None else f"HTTP {status}"
    return CallError(
        f"{url}: the proxy {shown_proxy(proxy)}: {text}. It is the one that HTTPS_PROXY,"
        " HTTP_PROXY or ALL_PROXY names; NO_PROXY names hosts that need none.",
        kind="down",
    )
