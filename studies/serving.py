"""Measures the processor's time of a served request, beside that of `coterie.arun`.

    python -m studies.serving

A team of two agents is asked many times: by `coterie.arun`, and by `mas serve` over HTTP, plain and
streamed. Its model answers at once, in a process of its own, and so do the clients of the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import httpx

import coterie
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

TEAM = """
name: pair
agents:
  worker: {prompt: "Solve it."}
  judge: {prompt: "Decide it."}
topology: {reports_to: {worker: [judge]}}
"""
QUERY = "What is 3 + 4?"
AT_ONCE = 16


def processor_seconds(pid: int) -> float:
    """Return what a process has used of the processor (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


async def measured(ask: Callable[[], Awaitable[object]], pid: int, requests: int) -> float:
    """Return a process's milliseconds for a request, some at once; the first ones do not count."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def asked() -> None:
        async with turns:
            await ask()

    await asyncio.gather(*(asked() for _ in range(AT_ONCE)))
    before = processor_seconds(pid)
    await asyncio.gather(*(asked() for _ in range(requests)))
    return (processor_seconds(pid) - before) / requests * 1000


@contextmanager
def started(folder: Path, *words: str) -> Generator[tuple[int, str]]:
    """Run a Python module during the body; its process, and the first line that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "MAS_HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process.pid, next(iter(process.stdout or ()), "").strip()
    finally:
        process.terminate()
        process.wait()


async def by_http(folder: Path, model: str, requests: int, *, streamed: bool) -> float:
    """Measure served requests."""
    body = {"model": "pair", "messages": [{"role": "user", "content": QUERY}], "stream": streamed}
    words = ("serve", "team.yaml", "--model", model, "--port", "0")
    with started(folder, "coterie.schema.command", *words) as (pid, address):
        async with httpx.AsyncClient(timeout=60) as http:

            async def ask() -> None:
                response = await http.post(f"{address}/chat/completions", content=json.dumps(body))
                response.raise_for_status()

            return await measured(ask, pid, requests)


async def by_arun(folder: Path, model: str, requests: int) -> float:
    """Measure runs of this process, recorded as those of a server are."""

    async def ask() -> None:
        await coterie.arun(folder / "team.yaml", query=QUERY, model=model, runs=folder / "arun")

    return await measured(ask, os.getpid(), requests)


@click.command(cls=Command)
@click.option("--requests", default=300, show_default=True, help="How many requests a way.")
@click.option("--trials", default=3, show_default=True, help="How many times each way.")
def main(requests: int, trials: int) -> None:
    """Measure served requests and runs, as a table in Markdown."""
    click.echo("| way | CPU ms a request |\n|---|---|")
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "team.yaml").write_text(TEAM, "utf-8")
        (folder / "script.yaml").write_text('"": "It is 7."\n', "utf-8")
        with started(folder, "coterie.runtime.doubles", "script.yaml") as (_, address):
            model = f"scripted@{address}"
            ways = {
                "`coterie.arun`": partial(by_arun, folder, model, requests),
                "`mas serve`": partial(by_http, folder, model, requests, streamed=False),
                "`mas serve`, streamed": partial(by_http, folder, model, requests, streamed=True),
            }
            for name, way in ways.items():
                times = [asyncio.run(way()) for _ in range(trials)]
                click.echo(f"| {name} | {statistics.median(times):.1f} |")


if __name__ == "__main__":
    main()
