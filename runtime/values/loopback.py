"""Who calls a server of this machine by a name of this machine: the others may be rebound names.

A page elsewhere whose name was made to lead here (DNS rebinding) shows the name in `Host`, and a
page that sends a request across origins shows its own in `Origin`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
OURSELVES = frozenset({LOOPBACK, "localhost", "[::1]"})
"""What a client on this machine may call us; any port, as one may be forwarded."""


def is_loopback(host: str) -> bool:
    """Return whether a `Host`, with or without a port, is a name of this machine."""
    name = host.rsplit(":", 1)[0] if host != "[::1]" else host
    return name in OURSELVES


def is_local_origin(origin: str) -> bool:
    """Return whether an `Origin` is a page that this machine served."""
    return is_loopback(urlsplit(origin).netloc)
