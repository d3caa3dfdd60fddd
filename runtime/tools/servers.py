"""Tool servers: programs of the host that offer tools over the Model Context Protocol."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get

if TYPE_CHECKING:
    from ...schema.host.catalogue import ToolServer
    from .session import Session

LIBRARY, MAJOR = "mcp", "1"


async def start_session(server: ToolServer) -> Session:
    """Start a tool server and wait until it lists its tools."""
    _check_library(server)
    from .session import Session

    return await Session.start(server)


def check_server(server: ToolServer) -> None:
    """Check that a tool server can be started or reached, without doing so."""
    _check_library(server)
    if server.command:
        from .server_process import program_of

        program_of(server)
    else:
        from .server_address import headers_of

        headers_of(server, os.environ)


def _check_library(server: ToolServer) -> None:
    try:
        installed = version(LIBRARY)
    except PackageNotFoundError:
        problem = "which is not installed"
    else:
        if installed.partition(".")[0] == MAJOR:
            return
        problem = f"version {MAJOR}; {installed} is installed"
    raise InputError(
        f"the tool server {server.name!r} needs the package {LIBRARY!r}, {problem}."
        f" Run: {how_to_get('mcp')}"
    )
