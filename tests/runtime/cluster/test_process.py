"""Commands on a worker that cannot tell any more what becomes of them."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.cluster import hosted
from coterie.runtime.cluster.link import WorkerLost
from coterie.runtime.jail import JailLost, Jails, Shell
from coterie.schema.values.errors import JailError

from .links import near


def run(jails: Jails, folder: Path, timeout: float) -> None:
    with jails.open(folder) as jail:
        Shell(jail).run("sleep 600", timeout=timeout)


def test_a_worker_that_fails_to_tell_is_lost(tmp_path: Path) -> None:
    with near(1) as (jails, fleet):
        link = fleet.links[0]
        ask = link.ask

        def failing(method: str, *a: Any, **named: Any) -> Any:
            if method == "news":
                raise JailError("The worker failed: KeyError")
            return ask(method, *a, **named)

        link.ask = failing  # type: ignore[method-assign]
        with pytest.raises(JailLost, match="KeyError"):
            run(jails, tmp_path, 600)
        assert fleet.lost == [link]
        link.end()


def test_a_worker_that_hangs_is_lost_when_a_command_cannot_be_ended(tmp_path: Path) -> None:
    with near(1) as (jails, fleet):
        link = fleet.links[0]
        ask, ended = link.ask, threading.Event()

        def hanging(method: str, *a: Any, seconds: float | None = None, **named: Any) -> Any:
            if method == "end":
                assert seconds is not None
                raise WorkerLost("no answer in time")
            if method == "news":
                ended.wait()
                raise WorkerLost("it ended")
            return ask(method, *a, seconds=seconds, **named)

        link.ask = hanging  # type: ignore[method-assign]
        with pytest.raises(JailLost, match="no answer in time"):
            run(jails, tmp_path, 0.1)
        assert fleet.lost == [link]
        ended.set()
        link.end()


class Piped:
    """A command that never ends, whose stream somebody else writes."""

    stdin = stderr = stopped = None

    def __init__(self, stream: int) -> None:
        self.stdout = os.fdopen(stream, "rb")
        self.over = threading.Event()

    def wait(self) -> None:
        self.over.wait()


async def test_what_was_dropped_is_read_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "PATIENCE", 0.05)
    stream, end = os.pipe()
    command: Any = Piped(stream)
    with command.stdout, ThreadPoolExecutor() as threads:
        process = hosted.HostedProcess(command, threads, lambda: None)
        os.write(end, b"first")
        waiting = asyncio.ensure_future(process.news())
        await asyncio.sleep(0)
        process._readable(hosted.STDOUT)  # pyright: ignore[reportPrivateUsage]
        process.drop()  # while somebody is about to be told
        first = await waiting
        os.write(end, b"second")
        second = await process.news()
        command.over.set()
    os.close(end)
    assert (first[0], second[0]) == ([(hosted.STDOUT, b"first")], [])
