"""What an answer costs that comes in pieces: beside a whole one, and beside reading it at all."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager
from statistics import median
from typing import TYPE_CHECKING

import aiohttp

from coterie.runtime import Gateway
from coterie.runtime.gateway import ChatRequest
from coterie.schema import Model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    Ask = Callable[[], Awaitable[object]]

PIECES = 300
"""Of an answer; each is sent by itself."""
SIMULATED = f"sim-1000-{PIECES}"
"""A model that takes a second for them."""
AT_ONCE = 10
RUNS = 5
MESSAGES = ({"role": "user", "content": "Who are you?"},)


def in_pieces(api_base: str) -> Mapping[str, float]:
    """Measure calls of one model, each way in turn. `api_base` is the simulator's.

    Returns:
        Processor seconds of a call by the way it is made: medians.
    """
    measured: dict[str, list[float]] = {}
    for _ in range(RUNS):
        for stream, name in ((False, "whole"), (True, "in pieces")):
            asking = _gateway(api_base, stream=stream)
            measured.setdefault(name, []).append(asyncio.run(_processor(asking)))
        alone = asyncio.run(_processor(_session(api_base)))
        measured.setdefault("in pieces, aiohttp and json alone", []).append(alone)
    return {name: median(seconds) for name, seconds in measured.items()}


def pieces_table(measured: Mapping[str, float]) -> str:
    """Write the table of docs/research/performance.md."""
    rows = [
        f"| {name} | {seconds * 1000:.1f} | {(seconds - measured['whole']) / PIECES * 1e6:.0f} |"
        for name, seconds in measured.items()
    ]
    head = f"| an answer of {PIECES} pieces | CPU ms/call | more per piece, us |"
    return "\n".join([head, "|---|---|---|", *rows])


async def _processor(asking: AbstractAsyncContextManager[Ask]) -> float:
    """Return the processor seconds of a call, of several at once, after one that warms up."""
    async with asking as ask:
        await ask()
        before = time.process_time()
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        return (time.process_time() - before) / AT_ONCE


@asynccontextmanager
async def _gateway(api_base: str, *, stream: bool) -> AsyncGenerator[Ask]:
    model = Model(alias="default", model=SIMULATED, api_base=api_base, stream=stream)
    request = ChatRequest(model="default", messages=MESSAGES)
    async with Gateway({"default": model}, environment={}) as gateway:
        yield lambda: gateway.chat(request)


@asynccontextmanager
async def _session(api_base: str) -> AsyncGenerator[Ask]:
    """Ask with nothing but a session, and read every event."""
    async with aiohttp.ClientSession() as session:

        async def ask() -> None:
            body = {"model": SIMULATED, "messages": MESSAGES, "stream": True}
            async with session.post(f"{api_base}/chat/completions", json=body) as response:
                async for line in response.content:
                    if line.startswith(b"data: {"):
                        json.loads(line.removeprefix(b"data: "))

        yield ask
