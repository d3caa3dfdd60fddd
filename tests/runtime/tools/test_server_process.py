"""The processes of tool servers: nothing is left of them, whatever happens."""

import asyncio
import os
import select
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.tools import ToolError, server_process
from coterie.runtime.tools.servers import start_session
from coterie.runtime.tools.session import Session

from .conftest import scripted, shell

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems can't find what left its process group"
)
SERVER = scripted({}, "leave_child", "explode", "stay")
PARENT = """
import asyncio, sys
from coterie.runtime.tools.servers import start_session
from coterie.schema.host.catalogue import ToolServer

async def main():
    server = ToolServer(name="scripted", command=sys.argv[1:], tools=("leave_child",))
    session = await start_session(server)
    print(await session.tool("leave_child").run({}, None), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def watched(pid: int) -> int:
    """A descriptor that tells when a process has ended."""
    return os.pidfd_open(pid)


def ended(watch: int) -> bool:
    """Whether a watched process ends within ten seconds."""
    try:
        return bool(select.select([watch], [], [], 10)[0])
    finally:
        os.close(watch)


def children() -> list[str]:
    """The processes that this thread has started and that have not ended."""
    task = f"/proc/{os.getpid()}/task/{threading.get_native_id()}"
    return Path(task, "children").read_text().split()


async def call(session: Session, name: str) -> int:
    nobody: Any = None
    return await session.tool(name).run({}, nobody)


async def test_stopping_ends_the_server_and_all_that_it_started() -> None:
    session = await start_session(SERVER)
    child = watched(await call(session, "leave_child"))
    await session.stop()
    assert ended(child)


async def test_a_server_that_does_not_leave_is_made_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "SECONDS_TO_LEAVE", 0.05)
    session = await start_session(SERVER)
    server = watched(await call(session, "stay"))
    await session.stop()
    assert ended(server)


async def test_a_crash_of_the_server_is_told_and_leaves_nothing() -> None:
    session = await start_session(SERVER)
    child = watched(await call(session, "leave_child"))
    for _ in range(2):
        with pytest.raises(ToolError, match=r"server 'scripted' has ended\.") as loss:
            await call(session, "explode")
        assert loss.value.detail == (
            "It ended with exit code 3. It last wrote:\na spring came loose"
        )
    await session.stop()
    assert ended(child)


def test_a_crash_of_ours_leaves_nothing() -> None:
    command = [sys.executable, "-c", PARENT, *SERVER.command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = watched(int(parent.stdout.readline()))
        parent.kill()

    assert ended(child)


def test_a_run_that_ends_without_stopping_leaves_nothing() -> None:
    async def use() -> int:
        return watched(await call(await start_session(SERVER), "leave_child"))

    assert ended(asyncio.run(use()))


async def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stubborn = f"trap '' TERM HUP; echo $$ > {pipe}; while true; do sleep 60; done"
    session = asyncio.create_task(start_session(shell(stubborn)))
    server = watched(int(await asyncio.to_thread(pipe.read_text)))
    session.cancel()
    with pytest.raises(asyncio.CancelledError):
        await session
    assert ended(server)


async def test_a_start_that_is_cancelled_at_once_leaves_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stubborn = f"trap '' TERM HUP; echo $$ > {pipe}; while true; do sleep 60; done"
    before = children()
    session = asyncio.create_task(start_session(shell(stubborn)))
    while children() == before:  # noqa: ASYNC110 - a fork sets no event
        await asyncio.sleep(0)
    # While it waits for this, the event loop cannot note that its server has started.
    server = watched(int(pipe.read_text()))
    session.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(300):
            await session
    assert ended(server)


async def test_a_cancelled_stop_leaves_nothing() -> None:
    session = await start_session(SERVER)
    server = watched(await call(session, "stay"))
    stopping = asyncio.create_task(session.stop())
    await asyncio.sleep(0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert ended(server)
