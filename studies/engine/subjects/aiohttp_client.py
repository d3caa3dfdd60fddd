"""The floor of an HTTP library: aiohttp with one session, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
from dataflow import dataflow
from workloads import Workload


def build(workload: Workload, api_base: str) -> dict[str, Any]:
    """Keep the address; the session is made where the loop runs."""
    return {"workload": workload, "url": f"{api_base}/chat/completions", "session": None}


async def run(team: dict[str, Any], run: str) -> str:
    """Run the team over one session."""
    if team["session"] is None:
        team["session"] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def call(model: str, messages: list[dict[str, str]]) -> str:
        body = json.dumps({"model": model, "messages": messages}).encode()
        async with team["session"].post(team["url"], data=body) as response:
            return json.loads(await response.read())["choices"][0]["message"]["content"]

    return await dataflow(team["workload"], run, call)
