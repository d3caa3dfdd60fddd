"""Why a request got no whole response, where the connection is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

from ..chat.errors import CallError
from .proxies import shown_proxy

if TYPE_CHECKING:
    from ..endpoint import Endpoint


def is_unsent(error: Exception) -> bool:
    """Tell whether a connection had ended before all of a request went out.

    aiohttp raises that where it writes, and wraps it once more where that was the body.
    """
    return isinstance(error.__cause__ or error, aiohttp.ClientConnectionResetError)


def broken(endpoint: Endpoint, url: str, error: Exception) -> CallError:
    """Tell of a connection that could not be made, or that ended too early.

    Args:
        endpoint: Whom it was made to.
        url: What was asked for, for messages.
        error: What aiohttp, or the system, says.
    """
    is_refused = isinstance(error, aiohttp.ClientHttpProxyError)
    made = not (is_refused or isinstance(error, aiohttp.ClientConnectorError))
    if endpoint.proxy and not made:
        # What the error itself says may have the proxy's password in it.
        said = f"HTTP {error.status}" if is_refused else "it cannot be reached"
        message = (
            f"the proxy {shown_proxy(endpoint.proxy)}: {said}. It is the one that HTTPS_PROXY,"
            " HTTP_PROXY or ALL_PROXY names; NO_PROXY names hosts that need none."
        )
    else:
        advice = "The connection broke." if made else "Is the endpoint running?"
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            advice = "SSL_CERT_FILE names a file of the authorities that are trusted."
        message = f"{error or type(error).__name__}. {advice}"
    return CallError(f"{url}: {message}", kind="down", may_be_billed=made and not is_unsent(error))
