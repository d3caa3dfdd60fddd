"""Python functions of the host's as tools."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from ...schema.json_text import dumps
from .tool import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.python_tool import PythonTool
    from ..workspace import Workspace

__all__ = ["tool_of"]


def tool_of(described: PythonTool) -> Tool:
    """Give a Python function as a tool.

    A plain function runs in a thread, so that it holds up nobody; an async one in the run's loop.
    What it gives that is no JSON value is told as `str()` has it.
    """
    function = described.function

    async def run(arguments: Mapping[str, Any], _workspace: Workspace) -> Any:
        if inspect.iscoroutinefunction(function):
            return _plain(await function(**arguments))
        return _plain(await asyncio.to_thread(function, **arguments))

    return Tool(
        name=described.name,
        description=described.description,
        parameters=described.parameters,
        run=run,
    )


def _plain(result: Any) -> Any:
    try:
        dumps(result)
    except (TypeError, ValueError):
        return str(result)
    return result
