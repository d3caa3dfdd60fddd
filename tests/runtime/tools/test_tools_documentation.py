"""The page about tools: its plugin, its server and its files work as they stand."""

import asyncio
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.tools import Tool, ToolError
from coterie.runtime.tools.python import tool_of
from coterie.schema import load_tools

from ...support.pages import blocks
from ...waiting import PATIENCE
from .conftest import session_with

NOBODY: Any = None


def test_the_plugin_counts_words() -> None:
    (plugin,) = blocks("extend.md", "python", "## Add a tool in a package")
    (declaration,) = blocks("extend.md", "toml", "## Add a tool in a package")
    points = tomllib.loads(declaration)["project"]["entry-points"]["coterie.tools"]
    names: dict[str, Any] = {}
    exec(plugin, names)  # noqa: S102 - our own page

    ((name, place),) = points.items()
    tool = names[place.partition(":")[2]]
    assert isinstance(tool, Tool)
    assert tool.name == name
    assert asyncio.run(tool.run({"text": "one two"}, NOBODY)) == 2
    with pytest.raises(ToolError, match="empty"):
        asyncio.run(tool.run({"text": " "}, NOBODY))


def test_the_function_tells_the_weekday(tmp_path: Path) -> None:
    function, _ = blocks("tools.md", "python")
    tmp_path.joinpath("tools.py").write_text(function, encoding="utf-8")
    tmp_path.joinpath("tools.yaml").write_text(blocks("tools.md", "yaml")[1], encoding="utf-8")
    tool = tool_of(load_tools(tmp_path / "tools.yaml").python["weekday"])
    assert tool.parameters["properties"]["day"]["description"] == "The date, such as 2026-11-23."
    assert asyncio.run(tool.run({"day": "2026-11-23"}, NOBODY)) == "Monday"


def test_what_the_page_declares_loads(tmp_path: Path) -> None:
    *_, address = blocks("tools.md", "yaml")
    tmp_path.joinpath("tools.yaml").write_text(address, encoding="utf-8")
    (server,) = load_tools(tmp_path / "tools.yaml").servers.values()
    assert server.variables == {"WEATHER_KEY", "WEATHER_TENANT"}


async def test_the_server_tells_the_time(tmp_path: Path) -> None:
    *_, program = blocks("tools.md", "python")
    declaration = blocks("tools.md", "yaml")[3]
    tmp_path.joinpath("clock_server.py").write_text(program, encoding="utf-8")
    tmp_path.joinpath("tools.yaml").write_text(declaration, encoding="utf-8")
    (server,) = load_tools(tmp_path / "tools.yaml").servers.values()
    command = (sys.executable, str(tmp_path / server.command[1]))
    async with session_with(replace(server, command=command, start_timeout=PATIENCE)) as session:
        assert re.match(r"\d{4}-\d\d-\d\dT", await session.tool("now").run({}, NOBODY))
