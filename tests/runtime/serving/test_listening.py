"""`mas serve` as a process: killed, started again, told to load its teams again, and to stop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
from openai import AsyncOpenAI

from coterie.runtime.command.serve import main as mas_serve
from coterie.runtime.doubles import Call, Reply, ScriptedModel, message_text

from ...support.commands import ran
from .opened import PAIR, pair

KEY = "k" * 20


@contextmanager
def served(here: Path, model: ScriptedModel) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Serve the team of two during the body; give the process and the address of its API."""
    words = ["serve", pair(here), "--model", f"scripted@{model.api_base}"]
    words += ["--port", "0", "--concurrency", "256"]
    process = subprocess.Popen(
        [sys.executable, "-m", "coterie.schema.command", *words],
        cwd=here,
        env={**os.environ, "MAS_SERVE_KEYS": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


async def asked(client: AsyncOpenAI, number: int) -> str:
    """Ask a question of its own, every third one streamed, under a key of its own."""
    question: Any = {
        "model": "pair",
        "messages": [{"role": "user", "content": f"What is number {number}?"}],
        "extra_headers": {"Idempotency-Key": f"key {number}"},
    }
    if number % 3:
        done = await client.chat.completions.create(**question)
        return done.choices[0].message.content or ""
    chunks = [
        chunk async for chunk in await client.chat.completions.create(**question, stream=True)
    ]
    deltas = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    return "".join(filter(None, deltas))


def test_a_killed_server_pays_nothing_twice_then_reloads_and_stops(
    here: Path, nightly: bool
) -> None:
    """Questions with an odd number are on their way to the judge when the server is killed."""
    numbers = range(200 if nightly else 10)
    odd = [number for number in numbers if number % 2]
    killed = False

    def answer(request: Mapping[str, Any]) -> Reply | str:
        (number,) = re.findall(r"number (\d+)", text := message_text(request))
        if "[worker]" in text:
            return "a draft"
        hangs = int(number) % 2 and not killed
        return Reply.fault("hang") if hangs else f"It is {number}."

    async def all_asked(address: str, *, until: Callable[[], None] | None = None) -> list[Any]:
        async with AsyncOpenAI(api_key=KEY, base_url=address, max_retries=0) as client:
            asking = [asyncio.create_task(asked(client, number)) for number in numbers]
            if until is not None:
                await asyncio.gather(*asking[::2])
                await asyncio.to_thread(model.wait_for, all_there)
                until()
            return await asyncio.gather(*asking, return_exceptions=True)

    def all_there(calls: Sequence[Call]) -> bool:
        return len(calls) == 2 * len(numbers)

    with ScriptedModel(answer) as model:
        with served(here, model) as (process, address):
            first = asyncio.run(all_asked(address, until=process.kill))
        killed = True
        assert [isinstance(came, openai.APIError | httpx.HTTPError) for came in first] == [
            bool(number % 2) for number in numbers
        ]
        with served(here, model) as (process, address):
            came = asyncio.run(all_asked(address))
            assert came == [f"It is {number}." for number in numbers]
            assert len(model.calls) == 2 * len(numbers) + len(odd)
            results = [
                json.loads((record / "result.json").read_text("utf-8"))
                for record in (here / "runs").glob("*-pair-*")
            ]
            assert [result["status"] for result in results] == ["done"] * len(numbers)
            assert sum(result["usage"]["uncertain_calls"] for result in results) == len(odd)

            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            pair(here, PAIR.replace("prompt:", "promt:", 1))
            process.send_signal(signal.SIGHUP)
            assert any("pair.yaml:5:12: error: agents.worker.promt" in line for line in lines)
            assert "pair stays what it was." in next(lines)
            assert httpx.get(f"{address.removesuffix('/v1')}/healthz").json()["status"] == "ok"
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0


def test_an_address_that_others_reach_needs_keys(here: Path) -> None:
    refused = ran(mas_serve, pair(here), "--host", "192.0.2.1")
    assert refused.exit_code == 2
    assert "clients need keys" in refused.output
