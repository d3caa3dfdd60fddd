"""Served teams as tools of an MCP server, called by the protocol's own client."""

import json
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from coterie.runtime.doubles import Reply, ScriptedModel

from .opened import ADDRESS, PAIR, catalogue, opened, pair

ARGUMENTS = {"query": "What is 3 + 4?", "files": {"notes.txt": "Seven is a number."}}


async def called(session: ClientSession) -> tuple[Any, list[str]]:
    """Call the team's tool; return the result and what progress was reported."""
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message or "")

    await session.initialize()
    (tool,) = (await session.list_tools()).tools
    assert (tool.name, tool.description) == ("pair", "Solves riddles.")
    meta = {"idempotency-key": "once"}
    result = await session.call_tool("pair", ARGUMENTS, progress_callback=hear, meta=meta)
    return result, heard


async def test_a_team_is_a_tool_over_http(here: Path, model: ScriptedModel) -> None:
    async with (
        opened(here, catalogue(model), keys=["k" * 16]) as at,
        streamable_http_client(f"{ADDRESS}/mcp", http_client=at.http) as (reads, writes, _),
        ClientSession(reads, writes) as session,
    ):
        result, heard = await called(session)
    assert not result.isError
    assert [part.text for part in result.content] == ["It is 7."]
    assert heard == ["worker works", "worker is done", "judge works", "judge is done"]
    run = here / "runs" / result.meta["coterie"]["run"]
    assert json.loads((run / "task.json").read_text("utf-8"))["files"] == ARGUMENTS["files"]


async def test_a_team_that_fails_is_an_error_of_the_tool(here: Path) -> None:
    with ScriptedModel(Reply.error(400, message="no such thing")) as model:
        async with (
            opened(here, catalogue(model)) as at,
            streamable_http_client(f"{ADDRESS}/mcp", http_client=at.http) as (reads, writes, _),
            ClientSession(reads, writes) as session,
        ):
            result, _ = await called(session)
        assert result.isError
        assert "worker" in result.content[0].text


async def test_a_team_is_a_tool_over_stdio(here: Path, model: ScriptedModel) -> None:
    words = ["-m", "coterie.schema.command", "serve", "--mcp", pair(here, PAIR)]
    words += ["--model", f"scripted@{model.api_base}"]
    server = StdioServerParameters(command=sys.executable, args=words, cwd=here)
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
        result, heard = await called(session)
        again, _ = await called(session)
    assert [part.text for part in result.content] == ["It is 7."]
    assert heard[0] == "worker works"
    assert again.meta == result.meta
