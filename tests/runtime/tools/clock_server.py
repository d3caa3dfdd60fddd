"""A real tool server, for the tests of tool servers."""

import asyncio
import os
from typing import Any

from mcp.server.fastmcp import FastMCP, Image
from mcp.types import EmbeddedResource, TextResourceContents
from pydantic import AnyUrl

server = FastMCP("clock", log_level="WARNING")


@server.tool()
def now(zone: str = "UTC") -> str:
    """Tell the time."""
    return f"12:00 {zone}"


@server.tool(description="x" * 10_000)
def weekday(day: int) -> dict[str, Any]:
    return {"day": day, "name": "Monday"}


@server.tool(structured_output=False)
def chime() -> list[Any]:
    """Show how the clock looks and sounds."""
    manual = TextResourceContents(uri=AnyUrl("file:///manual"), text="Wind it up.")
    return [
        "ding",
        Image(data=b"\x89PNG" * 3, format="png"),
        EmbeddedResource(type="resource", resource=manual),
    ]


@server.tool()
def stop_clock() -> str:
    """Fail."""
    raise ValueError("the clock is locked")


@server.tool()
async def sleep() -> str:
    """Take long."""
    await asyncio.sleep(60)
    return "awake"


@server.tool()
def environment() -> list[str]:
    """Name the environment variables that the server has."""
    return sorted(os.environ)


if __name__ == "__main__":
    server.run()
