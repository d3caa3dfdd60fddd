"""Check that a local server is called by a name of this machine, against DNS rebinding.

A foreign page whose name was made to resolve to this machine (DNS rebinding) sends its name in
`Host`, and a page that sends a cross-origin request sends its own in `Origin`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
OURSELVES = frozenset({LOOPBACK, "localhost", "[::1]"})
"""Names of this machine for its own clients; with any port, since ports may be forwarded."""


def is_loopback(host: str) -> bool:
    """Return whether a `Host`, with or without a port, is a name of this machine."""
    name = host.rsplit(":", 1)[0] if host != "[::1]" else host
    return name in OURSELVES


def is_local_origin(origin: str) -> bool:
    """Return whether an `Origin` is a page served by this machine."""
    return is_loopback(urlsplit(origin).netloc)
