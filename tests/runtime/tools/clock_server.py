"""A real tool server, for the tests of tool servers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

from mcp.server.fastmcp import FastMCP, Image
from mcp.types import EmbeddedResource, TextContent, TextResourceContents
from pydantic import AnyUrl

server = FastMCP("clock", log_level="WARNING")


@server.tool()
def now(zone: str = "UTC") -> str:
    """Tell the time."""
    return f"12:00 {zone}"


@server.tool(description="x" * 10_000)
def weekday(day: int) -> dict[str, Any]:
    return {"day": day, "name": "Monday"}


@server.tool()
def chime() -> list[Any]:
    """Show how the clock looks and sounds."""
    manual = TextResourceContents(uri=AnyUrl("file:///manual"), text="Wind it up.")
    return ["ding", Image(data=b"\x89PNG" * 3, format="png"), EmbeddedResource(type="resource", resource=manual)]


@server.tool()
def stop_clock() -> str:
    """Fail."""
    raise ValueError("the clock is locked")


@server.tool()
def explode() -> str:
    """Crash."""
    print("a spring came loose", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def sleep() -> str:
    """Take long."""
    time.sleep(60)
    return "awake"


@server.tool()
def environment() -> list[str]:
    """Name the environment variables that the server has."""
    return sorted(os.environ)


@server.tool()
def leave_child() -> int:
    """Start a process that would outlive the server."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    return subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid


if __name__ == "__main__":
    server.run()
