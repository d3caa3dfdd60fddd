"""Open the workers of a cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from ...schema.values.errors import InputError, JailError
from ..jail.request import JailRequest
from .jail import RemoteJail
from .link import Link, WorkerLost
from .on import On

TRIES = 5
"""On how many workers to try to open a jail, if they are lost meanwhile."""


class Fleet(Protocol):
    """The workers of a cluster. Every method may be called from any thread."""

    def alive(self) -> Sequence[Link]:
        """Return the workers that host jails; if there is none at the moment, wait for one.

        Raises:
            JailError: There is none, and none came in time.
        """
        ...

    def lose(self, link: Link) -> None:
        """Record the loss of a worker, and start another in its place if possible."""
        ...

    def describe(self) -> dict[str, Any]:
        """Describe the workers, for the record of a run, as `Jails.describe` does."""
        ...

    def close(self) -> None:
        """Release the workers."""
        ...


class Workers:
    """Opens jails on the workers of a cluster; a `JailPlace`."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._turn = threading.Lock()
        self._open: dict[Link, int] = {}

    def check(self) -> None:
        """Check that there is a worker.

        Raises:
            InputError: No worker is left.
        """
        try:
            self._fleet.alive()
        except JailError as error:
            raise InputError(str(error)) from error

    def describe(self) -> dict[str, Any]:
        """Return how code is confined on the workers; see `Fleet.describe`."""
        return self._fleet.describe()

    def open(self, work: Path, request: JailRequest) -> RemoteJail:
        """Open a jail on the worker that has the fewest; see `Jails.open`.

        Raises:
            JailError: No worker is left, or the jail cannot be opened.
        """
        why = "none was tried"
        for _ in range(TRIES):
            link = self._reserve()
            try:
                return RemoteJail(link, work, request, on_end=self._given_back)
            except WorkerLost as lost:
                why = str(lost)
                self._given_back(link, lost)
            except BaseException:
                self._given_back(link, None)
                raise
        raise JailError(f"{TRIES} workers were lost while a jail was being opened: {why}")

    def close(self) -> None:
        """Release the workers."""
        self._fleet.close()

    def _reserve(self) -> Link:
        links = self._fleet.alive()
        with self._turn:
            link = min(links, key=lambda item: self._open.get(item, 0))
            self._open[link] = self._open.get(link, 0) + 1
        return link

    def _given_back(self, link: Link, error: WorkerLost | None) -> None:
        with self._turn:
            left = self._open.pop(link, 1) - 1
            if left > 0:
                self._open[link] = left
        if error is not None:
            self._fleet.lose(link)


ANSWER_SECONDS = 10.0
"""Seconds that an address may take to answer at all."""


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
    """Check that an address accepts connections, which Ray itself tries for minutes."""
    try:
        socket.create_connection((on.host, on.port), ANSWER_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"--on {on.text}: nothing answers at {on.host}:{on.port} ({error}). Start a cluster"
            " with `ray start --head`, or use --on ray for a new one on this machine."
        ) from error


class Unopened:
    """A cluster for later use; a `JailPlace` that can only be checked and described."""

    def __init__(self, on: On) -> None:
        self._on = on

    def check(self) -> None:
        """Check that the cluster's address answers."""
        if self._on.host:
            _reach(self._on)

    def describe(self) -> dict[str, Any]:
        """Return the cluster's address."""
        return {"on": self._on.text}

    def open(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to open a jail.

        Raises:
            JailError: Always.
        """
        raise JailError(f"the cluster {self._on.text} is not open yet.")

    def close(self) -> None:
        """Do nothing."""
