"""`mas serve` as a process: killed, started again, told to load its teams again, and to stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import openai
import pytest

from coterie.runtime.command.serve import main as mas_serve
from coterie.runtime.doubles import Reply, ScriptedModel

from ...support.commands import ran
from .opened import PAIR, pair

KEY = "k" * 20


@contextmanager
def served(here: Path, model: ScriptedModel) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Serve the team of two during the body; give the process and the address of its API."""
    words = ["serve", pair(here), "--port", "0", "--model", f"scripted@{model.api_base}"]
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


def asked(address: str) -> str | None:
    client = openai.OpenAI(api_key=KEY, base_url=address, max_retries=0)
    with client:
        done = client.chat.completions.create(
            model="pair",
            messages=[{"role": "user", "content": "What is 3 + 4?"}],
            extra_headers={"Idempotency-Key": "monday"},
        )
    return done.choices[0].message.content


def test_a_killed_server_pays_nothing_twice_then_reloads_and_stops(here: Path) -> None:
    replies = {"[worker]": "maybe 7", "[judge]": [Reply.fault("hang"), "It is 7."]}
    with ScriptedModel(replies) as model, ThreadPoolExecutor(1) as thread:
        with served(here, model) as (process, address):
            lost = thread.submit(asked, address)
            model.wait_for(lambda calls: len(calls) == 2)
            process.send_signal(signal.SIGKILL)
            with pytest.raises(openai.APIConnectionError):
                lost.result()
        with served(here, model) as (process, address):
            assert asked(address) == "It is 7."
            assert asked(address) == "It is 7."
            workers = [call for call in model.calls if "[worker]" in call.text]
            assert (len(workers), len(model.calls)) == (1, 3)
            (record,) = (here / "runs").glob("*-pair-*")
            result = json.loads((record / "result.json").read_text("utf-8"))
            assert (result["status"], result["usage"]["uncertain_calls"]) == ("done", 1)

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
