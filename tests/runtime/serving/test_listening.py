"""`mas serve` as a process: killed, started again, told to load its teams again, and to stop."""

import asyncio
import itertools
import json
import re
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from coterie.runtime.command.serve import main as mas_serve
from coterie.runtime.doubles import Call, Reply, ScriptedModel, message_text

from ...support.commands import ran, started
from .clients import CLIENTS
from .opened import PAIR, evolved, pair

KEY = "k" * 20
CALLS = [*itertools.product(CLIENTS.values(), (False, True))]


@contextmanager
def served(here: Path, model: ScriptedModel) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Serve a team and a pool during the body: the process, and the address of its API."""
    words = [pair(here), "pool:town", "--model", f"scripted@{model.api_base}"]
    words += ["--port", "0", "--concurrency", "256"]
    process = started(here, *words, command="serve", env={"MAS_SERVE_KEYS": KEY})
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_a_killed_server_pays_nothing_twice_reloads_and_stops(here: Path, nightly: bool) -> None:
    """Questions with an odd number are on their way to the judge when the server is killed."""
    numbers = range(200 if nightly else 20)
    odd = [number for number in numbers if number % 2]
    killed = False

    def answer(request: Mapping[str, Any]) -> Reply | str:
        (number,) = re.findall(r"number (\d+)", text := message_text(request))
        if "[worker]" in text:
            return "a draft"
        hangs = int(number) % 2 and not killed
        return Reply.fault("hang") if hangs else f"It is {number}."

    def all_there(calls: Sequence[Call]) -> bool:
        return len(calls) == 2 * len(numbers)

    async def asked(http: httpx.AsyncClient, number: int) -> str:
        """Ask a question under a key of its own, by each of the protocols in turn."""
        ask, streamed = CALLS[number // 2 % len(CALLS)]
        query = f"What is number {number}?"
        team = ("pair", "pool:town")[number // 4 % 2]
        return await ask(http, team, query, key=f"key {number}", streamed=streamed)

    async def all_asked(address: str, *, until: Callable[[], None] | None = None) -> list[Any]:
        async with httpx.AsyncClient(
            base_url=address.removesuffix("/v1"),
            headers={"Authorization": f"Bearer {KEY}"},
            limits=httpx.Limits(max_connections=None),
            timeout=300,
        ) as http:
            asking = [asyncio.create_task(asked(http, number)) for number in numbers]
            if until is not None:
                await asyncio.gather(*asking[::2])
                await asyncio.to_thread(model.wait_for, all_there)
                until()
                # A client of MCP waits for the answer of a server that is gone, until it gives up.
                for task in asking:
                    task.cancel()
            return await asyncio.gather(*asking, return_exceptions=True)

    evolved(here)
    with ScriptedModel(answer) as model:
        with served(here, model) as (process, address):
            first = asyncio.run(all_asked(address, until=process.kill))
        killed = True
        assert [isinstance(result, BaseException) for result in first] == [
            bool(number % 2) for number in numbers
        ]
        with served(here, model) as (process, address):
            answers = asyncio.run(all_asked(address))
            assert answers == [f"It is {number}." for number in numbers]
            assert len(model.calls) == 2 * len(numbers) + len(odd)
            results = [
                json.loads((record / "result.json").read_text("utf-8"))
                for record in (here / "runs").iterdir()
                if record.name != ".requests"
            ]
            assert [result["status"] for result in results] == ["done"] * len(numbers)
            assert sum(result["usage"]["uncertain_calls"] for result in results) == len(odd)

            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            pair(here, PAIR.replace("prompt:", "promt:", 1))
            process.send_signal(signal.SIGHUP)
            assert any("pair.yaml:5:12: error: agents.worker.promt" in line for line in lines)
            assert "pair stays unchanged." in next(lines)
            assert httpx.get(f"{address.removesuffix('/v1')}/healthz").json()["status"] == "ok"
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0


def test_an_address_that_others_reach_needs_keys(here: Path) -> None:
    refused = ran(mas_serve, pair(here), "--host", "192.0.2.1")
    assert refused.exit_code == 2
    assert "clients need keys" in refused.output
