"""The toolbox: tools by name, from wherever they come."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.repository.workspace import Workspace
from coterie.runtime.tools import Tool, Toolbox, ToolError, Toolkit
from coterie.runtime.tools.files import read_file
from coterie.schema import InputError
from coterie.schema.host import catalogue

from .conftest import scripted

SAYS_HI = {"tools/call": {"content": [{"type": "text", "text": "hi"}]}}


def emit(*_: Any, **__: Any) -> None:
    """Nobody listens."""


async def test_built_in_tools_and_servers_side_by_side(workspace: Workspace) -> None:
    async with Toolbox({"scripted": scripted(SAYS_HI)}) as toolbox:
        await toolbox.prepare(["read_file", "scripted.act"])
        hand = toolbox.granted(["scripted.act", "read_file"], workspace, emit)
        assert list(hand) == ["scripted.act", "read_file"]
        with pytest.raises(ToolError, match="start_line: 0 is less than"):
            await hand["read_file"].call({"path": "notes.txt", "start_line": 0})
        notes = await hand["read_file"].call({"path": "notes.txt", "line_count": 1})
        assert [notes, await hand["scripted.act"].call({})] == ["one\n[lines 1 to 1 of 5]", "hi"]


async def test_a_server_is_started_once(workspace: Workspace) -> None:
    server = scripted(
        {**SAYS_HI, "tools/list": {"tools": [tool("act"), tool("rest")]}}, "act", "rest"
    )
    async with Toolbox({"scripted": server}) as toolbox:
        await toolbox.prepare(["scripted.act"])
        before = len(asyncio.all_tasks())
        await toolbox.prepare(["scripted.act", "scripted.rest"])
        assert len(asyncio.all_tasks()) == before


async def test_a_server_that_cannot_start_is_an_input_error() -> None:
    servers = {
        "odd": scripted({"initialize": {"code": -1, "message": "closed today"}}),
        "scripted": scripted(SAYS_HI),
    }
    async with Toolbox(servers) as toolbox:
        await toolbox.prepare(["scripted.act"])
        with pytest.raises(InputError, match="could not start a session: closed today"):
            await toolbox.prepare(["odd.act"])


async def test_all_built_in_tools_can_be_granted() -> None:
    async with Toolbox() as toolbox:
        await toolbox.prepare(names := ["list_files", "read_file", "search_text"])
        hand = toolbox.granted(names, None, emit)  # type: ignore[arg-type]
        assert [granted.tool.name for granted in hand.values()] == names


@pytest.mark.parametrize("value", ["no tool at all", read_file])
def test_an_entry_point_leading_elsewhere(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    monkeypatch.setattr(catalogue, "load_named", lambda *_: value)

    with pytest.raises(InputError, match=r"'word_count' of coterie\.tools must be a Tool"):
        asyncio.run(Toolbox().prepare(["word_count"]))


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}}


async def _count(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
    workspace.tool_state["count"] = workspace.tool_state.get("count", 0) + arguments.get("by", 1)
    return workspace.tool_state["count"]


def counter(name: str) -> Tool:
    return Tool(name=name, description="Count.", parameters={"type": "object"}, run=_count)


KIT = Toolkit(name="counters", tools=(counter("counters.up"), counter("counters.on")))


async def test_a_toolkit_grants_its_tools(
    monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    kits = {"counters": KIT, "plain": counter("plain")}
    monkeypatch.setattr(catalogue, "load_named", lambda _group, name: kits[name])
    box = Toolbox()
    await box.prepare(["counters", "plain"])
    hand = box.granted(["plain", "counters"], workspace, emit)
    assert list(hand) == ["plain", "counters.up", "counters.on"]
    assert [await item.call({}) for item in hand.values()] == [1, 2, 3]  # one workspace, one count


def test_a_toolkit_of_another_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "load_named", lambda *_: KIT)
    with pytest.raises(InputError, match="must be a Tool or a Toolkit of that name"):
        asyncio.run(Toolbox().prepare(["word_count"]))
