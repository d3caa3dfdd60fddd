"""Opening the workers of a cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import socket
import threading
from typing import Any, NoReturn

from ...schema.values.errors import InputError, JailError
from .on import On
from .place import Workers

ANSWER_SECONDS = 10.0
"""How long an address may take to answer at all."""


async def open_workers(on: On) -> Workers:
    """Connect to a cluster and start workers on its nodes."""
    opened: concurrent.futures.Future[Workers] = concurrent.futures.Future()

    def run() -> None:
        try:
            opened.set_result(_opened(on))
        except BaseException as error:  # noqa: BLE001 - raised again where the thread is awaited
            opened.set_exception(error)

    # Daemonic: a cluster that does not answer must not keep the process from ending.
    threading.Thread(target=run, name="cluster-opening", daemon=True).start()
    return await asyncio.wrap_future(opened)


def _opened(on: On) -> Workers:
    if on.host:
        _reach(on)
    from .ray_fleet import RayFleet

    return Workers(RayFleet(on))


def _reach(on: On) -> None:
    """Make sure that somebody listens there, which Ray itself tries for minutes."""
    try:
        socket.create_connection((on.host, on.port), ANSWER_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"--on {on.said}: nobody answers at {on.host}:{on.port} ({error}). Start a cluster"
            " with `ray start --head`, or say --on ray for one of this machine."
        ) from error


class Unopened:
    """A cluster that is to be used later; a `Place` where jails can be asked for only."""

    def __init__(self, on: On) -> None:
        self._on = on

    def check(self) -> None:
        """Make sure that somebody answers there."""
        if self._on.host:
            _reach(self._on)

    def describe(self) -> dict[str, Any]:
        """Say which cluster it is."""
        return {"on": self._on.said}

    def open(self, *_: Any, **__: Any) -> NoReturn:
        """Open no jail.

        Raises:
            JailError: Always.
        """
        raise JailError(f"the cluster {self._on.said} is not open yet.")

    def close(self) -> None:
        """Do nothing."""
