"""Listens on an address until the process is stopped; reloads the teams on SIGHUP."""

from __future__ import annotations

import asyncio
import signal
import socket
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import uvicorn

from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from contextlib import AbstractContextManager

    from starlette.types import ASGIApp

    from ...schema.values.errors import CoterieError
    from .server import TeamServer

DRAIN = 25.0
"""Seconds that running requests have when the server stops. Service managers wait for 30."""
KEEP_ALIVE = 75
"""Seconds that an idle connection stays open. Clients close theirs sooner (httpx after 5): a server
that closed first would break off requests that are sent at that moment."""
CLOSING = 2
"""Seconds until connections are closed after that."""


class _Server(uvicorn.Server):
    """Reports when it takes requests, and leaves signals to its caller."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def capture_signals(self) -> AbstractContextManager[None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return nullcontext()


async def listen(
    app: ASGIApp,
    server: TeamServer,
    *,
    host: str,
    port: int,
    ready: Callable[[str], None],
) -> bool:
    """Serve until this is cancelled; then let the running requests end.

    Args:
        port: The port; 0 for any free one.
        ready: Called with the address once the server accepts requests.

    Returns:
        Whether all requests ended in time.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=CLOSING,
        ws="none",
    )
    sock = _bound(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{sock.getsockname()[1]}"
    listening = _Server(config, lambda: ready(address))
    serving = asyncio.create_task(listening.serve([sock]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        return await server.stop(DRAIN)
    else:
        return True
    finally:
        listening.should_exit = True
        await serving


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host}:{port}: {error.strerror}. Choose another --host or --port."
        ) from None
    return sock


@contextmanager
def reloading(
    server: TeamServer, say: Callable[[Mapping[str, CoterieError]], None]
) -> Generator[None]:
    """Reload the teams on SIGHUP during the body.

    Args:
        say: Called after each reload, with the errors of teams that stayed unchanged.
    """
    loop, under_way = asyncio.get_running_loop(), set[asyncio.Task[None]]()
    alone = asyncio.Lock()

    async def reload() -> None:
        async with alone:
            say(await server.teams.reload(server.services))

    def on_signal() -> None:
        work = loop.create_task(reload())
        under_way.add(work)
        work.add_done_callback(under_way.discard)

    loop.add_signal_handler(signal.SIGHUP, on_signal)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
