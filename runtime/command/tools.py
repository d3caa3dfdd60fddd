"""`mas dev tools`: the tool servers of other programs, for tools.yaml."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, note
from ...schema.host.catalogue import ToolServer
from ...schema.team.writing import write_yaml
from ...schema.values.errors import InputError
from ...schema.values.values import unlike_default
from ..scrubbing.scrubber import Scrubber

if TYPE_CHECKING:
    from ..tools.client_file import ConfiguredServer

GRANTABLE = re.compile(r"[A-Za-z0-9_-]{1,128}")


@click.group("tools")
def main() -> None:
    """Import tool servers of other programs into tools.yaml."""


@main.command("import", cls=Command)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def import_servers(file: Path) -> None:
    """Write the mcpServers of FILE as tools.yaml, to standard output.

    FILE is a JSON file as Claude, Cursor and others have it. Starts or calls each server to list
    its tools, which tools.yaml then lets you grant. Keys in FILE are not copied: the command prints
    the environment variables to set instead.
    """
    from ..tools.client_file import servers_in

    result = servers_in(file)
    servers = asyncio.run(_discovered(result))
    if not servers:
        raise InputError(f"{file}: no server listed its tools.")
    click.echo(write_yaml({"servers": servers}), nl=False)


async def _discovered(configured: tuple[ConfiguredServer, ...]) -> dict[str, Any]:
    """Ask servers for their tools, one after the other; report those that fail."""
    servers: dict[str, Any] = {}
    for item in configured:
        server = item.server
        if item.values:
            note(f"{server.name}: set {', '.join(item.values)}; values in FILE are not copied.")
        try:
            tools = await _tools_of(item)
        except InputError as error:
            scrub = Scrubber(item.values.values())
            note(f"{server.name} is left out: {scrub(str(error))}")
            continue
        record = {key: value for key, value in unlike_default(server).items() if key != "name"}
        order = [field.name for field in fields(ToolServer) if field.name != "tools"]
        servers[server.name] = {key: record[key] for key in order if key in record} | {
            "tools": tools
        }
    return servers


async def _tools_of(server: ConfiguredServer) -> list[str]:
    """Start a server with the file's values, and return its tools."""
    from ..tools.servers import start_session

    for variable, value in server.values.items():
        os.environ.setdefault(variable, value)
    session = await start_session(server.server)
    offered = sorted(name for name in session.offered if GRANTABLE.fullmatch(name))
    await session.stop()
    if not offered:
        raise InputError("it has no tools.")
    return offered
