"""The physical floor: asyncio streams, no HTTP library."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

from dataflow import dataflow
from workloads import Workload

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def build(workload: Workload, api_base: str) -> tuple[Workload, str, list[Connection]]:
    """Keep the address and a pool of connections."""
    return workload, api_base, []


async def run(team: tuple[Workload, str, list[Connection]], run: str) -> str:
    """Run the team over the pool."""
    workload, api_base, pool = team
    address = urlsplit(api_base)

    async def call(model: str, messages: list[dict[str, str]]) -> str:
        if not pool:
            pool.append(await asyncio.open_connection(address.hostname, address.port))
        reader, writer = pool.pop()
        body = json.dumps({"model": model, "messages": messages}).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        header = await reader.readuntil(b"\r\n\r\n")
        length = int(header.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        content = json.loads(await reader.readexactly(length))
        pool.append((reader, writer))
        return content["choices"][0]["message"]["content"]

    return await dataflow(workload, run, call)
