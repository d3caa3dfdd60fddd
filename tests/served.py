"""A small HTTP server in this loop that gives answers in turn, and keeps what it was sent."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(kw_only=True)
class Served:
    """What a server is asked, and where it is.

    Attributes:
        address: Its address, without a path.
        paths: The path of each request.
        headers: The headers of each request, names in lower case.
        bodies: The body of each request.
    """

    address: str = ""
    paths: list[str] = field(default_factory=list[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@asynccontextmanager
async def serving(
    *answers: tuple[int, Any], tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Served]:
    """Serve answers in turn, the last one again and again: each is a status and a JSON body."""
    served = Served()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        status, reply = answers[min(len(served.bodies), len(answers) - 1)]
        served.paths.append(first.split()[1])
        served.headers.append(headers)
        served.bodies.append(body)
        content = json.dumps(reply).encode()
        writer.write(
            f"HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\nconnection: close\r\n"
            f"content-length: {len(content)}\r\n\r\n".encode()
            + content
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    async with server:
        scheme = "https" if tls else "http"
        served.address = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield served
