"""A worker in this process, which needs no Ray and can be lost at any moment."""

import asyncio
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

import pytest

from coterie.runtime.cluster.host import JailWorker, same_everywhere
from coterie.runtime.cluster.link import WorkerLost
from coterie.runtime.cluster.opening import Workers
from coterie.runtime.jail import Jails
from coterie.runtime.jail.detect import detect
from coterie.schema.values.errors import JailError


class NearLink:
    """A line to a host on an event loop in a thread; see `Link`.

    Attributes:
        asked: The methods that were called, in order.
        dies_at: At which call of which method the worker is lost, counted from 1.
    """

    def __init__(self, name: str, **options: int) -> None:
        self.name = name
        self.asked: list[str] = []
        self.dies_at: tuple[str, int] | None = None
        self.is_lost = False
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._waiting: set[Future[Any]] = set()
        self._turn = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.host: JailWorker = asyncio.run_coroutine_threadsafe(self._made(), self._loop).result()

    async def _made(self) -> JailWorker:
        host = JailWorker(**self._options)
        host.same = await host.greet(same_everywhere())  # type: ignore[attr-defined]
        return host

    def ask(self, method: str, *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
        self.asked.append(method)
        if self.dies_at == (method, self.asked.count(method)):
            self.die()
        with self._turn:
            if self.is_lost:
                raise WorkerLost(f"{self.name} died")
            call = getattr(self.host, method)(*arguments, **named)
            future = asyncio.run_coroutine_threadsafe(call, self._loop)
            self._waiting.add(future)
        try:
            return future.result(seconds)
        except (CancelledError, TimeoutError):
            raise WorkerLost(f"{self.name} died") from None
        finally:
            self._waiting.discard(future)

    def tell(self, method: str, *arguments: Any) -> None:
        if not self.is_lost:
            call = getattr(self.host, method)(*arguments)
            asyncio.run_coroutine_threadsafe(call, self._loop)

    def die(self) -> None:
        """Be lost, as with kill -9: who waits hears of it, and nothing of the jails is left."""
        with self._turn:
            self.is_lost = True
            waiting = [*self._waiting]
        for future in waiting:
            future.cancel()
        self.end()

    def end(self) -> None:
        """Close all that the host has, and its loop."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self.host.shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class NearFleet:
    """Workers in this process; see `Fleet`. A lost one has another in its place at once."""

    def __init__(self, count: int = 2, most: int = 100) -> None:
        self.links = [NearLink(f"worker {number}") for number in range(count)]
        self.lost: list[NearLink] = []
        self._most = most

    def alive(self) -> Sequence[NearLink]:
        if not self.links:
            raise JailError("no worker is left")
        return self.links

    def lose(self, link: Any) -> None:
        self.links.remove(link)
        self.lost.append(link)
        if len(self.lost) < self._most:
            self.links.append(NearLink(f"worker in place of {link.name}"))

    def describe(self) -> dict[str, Any]:
        return {"on": "near", "tier": "some", "confines": True}

    def close(self) -> None:
        for link in self.links:
            link.end()


def require_places() -> None:
    """Skip a test where this machine has no jail that can have folders at other paths."""
    tier = detect().tier
    if tier is None or not tier.has_mounts:
        pytest.skip("this machine has no jail with mounts")


@contextmanager
def near(count: int = 2, most: int = 100) -> Generator[tuple[Jails, NearFleet]]:
    """Give jails on workers in this process."""
    require_places()
    fleet = NearFleet(count, most)
    place = Workers(fleet)
    try:
        yield Jails(place=place), fleet
    finally:
        place.close()
