"""What gateways share: bounds on the calls of a model, and the servers of embedded models."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from .endpoint import Endpoint
from .rate_limiter import RateLimiter

if TYPE_CHECKING:
    from pathlib import Path

    from ..local.server import LocalServer

RateLimiters = dict[Endpoint, RateLimiter]
"""The limits that all calls of one model at one address share, whatever their gateway, event loop
and thread."""


class Shared:
    """The rate limiters and embedded servers that several gateways use.

    An async context manager that stops its servers, which belong to one event loop.

    Args:
        limiters: The rate limiters of other event loops.
    """

    def __init__(self, limiters: RateLimiters | None = None) -> None:
        self.limiters: RateLimiters = {} if limiters is None else limiters
        self._servers: dict[Path | None, LocalServer] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def find(self, weights: Path | None) -> LocalServer:
        """Return the server of a model file, which need not run yet.

        Args:
            weights: The file; None for the built-in model, which is pulled if it is not here.

        Raises:
            InputError: The file is missing, cannot be pulled or is no model.
        """
        async with self._starting:
            if weights not in self._servers:
                from ..local.server import LocalServer
                from ..local.weights import pull

                path = weights or await asyncio.to_thread(pull)
                self._servers[weights] = LocalServer(path)
        return self._servers[weights]

    async def server(self, weights: Path | None) -> LocalServer:
        """Return the server of a model file; the first call starts it.

        Raises:
            InputError: The file is missing or is no model.
            ModelError: The server did not start.
        """
        server = await self.find(weights)
        async with self._starting:
            await server.start()
        return server

    async def close(self) -> None:
        """Stop the servers."""
        for server in self._servers.values():
            await server.stop()
        self._servers.clear()
