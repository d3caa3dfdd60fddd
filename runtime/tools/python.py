"""The host's Python functions as tools."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from ...schema.values.json_text import dumps
from .tool import Tool, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...schema.host.python_tool import PythonTool
    from ..repository.workspace import Workspace

ENDS = (SystemExit, KeyboardInterrupt, GeneratorExit)
"""Exceptions that end a process, or a coroutine, unless caught."""


def tool_of(described: PythonTool) -> Tool:
    """Return a Python function as a tool.

    A plain function runs in a thread, so that it blocks nothing; an async one in the run's loop. A
    result that is not JSON-able becomes its `str()`. A function that tries to end the process ends
    its call only.
    """

    async def run(arguments: Mapping[str, Any], _workspace: Workspace) -> Any:
        return await call_python(described.name, described.function, arguments, _plain)

    return Tool(
        name=described.name,
        description=described.description,
        parameters=described.parameters,
        run=run,
    )


async def call_python(
    name: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    read: Callable[[Any], Any] = lambda returned: returned,
) -> Any:
    """Call a function of the host: a plain one in a thread, an async one in the run's loop.

    Args:
        read: Converts its result, which may be anything.

    Raises:
        ToolError: It tries to end the process, or the coroutine.
        BaseException: Any other exception that it raises.
    """

    def called() -> Any:
        try:
            return read(function(**arguments))
        except (StopIteration, asyncio.CancelledError, *ENDS) as error:
            raise _ended(name, error) from error

    if not inspect.iscoroutinefunction(function):
        return await asyncio.to_thread(called)
    try:
        return read(await function(**arguments))
    except ENDS as error:
        raise _ended(name, error) from error
    except asyncio.CancelledError as error:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        raise _ended(name, error) from error


def _ended(name: str, error: BaseException) -> ToolError:
    return ToolError(f"{name}: it ended with {type(error).__name__} {error}".strip())


def _plain(result: Any) -> Any:
    if isinstance(result, str):
        return str.__str__(result)  # even for a subclass of `str`
    try:
        dumps(result)
    except (TypeError, ValueError):
        return str(result)
    return result
