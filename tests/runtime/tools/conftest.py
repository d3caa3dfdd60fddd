"""Workspaces with files, tools in an agent's hands, and tool servers that do as a test says."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.repository.workspace import Workspace, Workspaces
from coterie.runtime.tools import Tool, ToolError
from coterie.runtime.tools.servers import start_session
from coterie.runtime.tools.session import Session
from coterie.schema import Task, ToolServer

HERE = Path(__file__).parent
FILES = {
    "notes.txt": "one\ntwo\nthree\nfour\nfive",
    "src/main.py": "import os\n\n\ndef main():\n    return os.name\n",
    "src/deep/er.py": "name = 'main'\n",
}


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """The workspace of an agent whose task has `FILES`."""
    with Workspaces(Task(id="task", query="?", files=FILES)) as home:
        yield home.of("agent", 1, ())


@pytest.fixture
def root(workspace: Workspace) -> Path:
    """The workspace's folder."""
    return workspace.path


def done(tool: Tool, workspace: Workspace, **arguments: Any) -> Any:
    """What a tool answers."""
    return asyncio.run(tool.run(arguments, workspace))


def refused(tool: Tool, workspace: Workspace, **arguments: Any) -> str:
    """Why a tool does not do it."""
    with pytest.raises(ToolError) as refusal:
        done(tool, workspace, **arguments)
    return str(refusal.value)


def scripted(answers: Mapping[str, Any], *tools: str, **fields: Any) -> ToolServer:
    """A small server that gives these answers by the method that it is asked for."""
    command = (sys.executable, "-I", "-S", str(HERE / "scripted_server.py"), json.dumps(answers))
    return ToolServer(name="scripted", command=command, tools=tools or ("act",), **fields)


@asynccontextmanager
async def session_with(server: ToolServer) -> AsyncGenerator[Session]:
    """A session with a server, which is stopped at the end."""
    session = await start_session(server)
    try:
        yield session
    finally:
        await session.stop()


def shell(script: str, **fields: Any) -> ToolServer:
    """A command that is not much of a server."""
    return ToolServer(name="odd", command=("sh", "-c", script), tools=("act",), **fields)
