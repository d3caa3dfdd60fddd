"""Whatever a tool gives, raises or ends with: the agent reads a result or an error, and cheaply."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Any, NoReturn

import pytest

from coterie.runtime.repository.workspace import Workspace
from coterie.runtime.tools import GrantedTool, ToolError
from coterie.runtime.tools.python import tool_of
from coterie.runtime.tools.servers import start_session
from coterie.runtime.values.bounds import LARGEST_RESULT
from coterie.schema.host.python_tool import python_tool
from coterie.schema.values.json_text import dumps

from ...damage import altered, bounded
from ...hostile import watched
from .conftest import scripted, session_with


class Sly(str):
    """A text that says that it is short."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1


class Rude:
    """What nobody can look at."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def circle() -> list[Any]:
    result: list[Any] = []
    result.append(result)
    return result


def nested(depth: int) -> Any:
    result: Any = 0
    for _ in range(depth):
        result = [result]
    return result


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def act() -> NoReturn:
        raise error

    return act


GIVEN: Mapping[str, Callable[[], Any]] = {
    "a long text": lambda: "x" * 20_000_000,
    "many values": lambda: [0] * 1_000_000,
    "deep": lambda: nested(100_000),
    "a circle": circle,
    "no number": lambda: [float("nan"), float("inf")],
    "huge number": lambda: 10**5_000,
    "bytes": lambda: b"\xff" * 100,
    "half a character": lambda: "\ud800",
    "keys that are none": lambda: {1: 2, None: 3, (4, 5): 6},
    "nobody can look at": Rude,
    "an endless iterator": lambda: iter(int, 1),
    "a function": lambda: print,
    "a text that lies": lambda: Sly("x" * 1_000_000),
    "nothing": lambda: None,
}
RAISED: Mapping[str, Callable[[], Any]] = {
    "an error": raising(ValueError("x" * 5_000_000)),
    "an error of ours": raising(ToolError("x" * 5_000_000)),
    "the end": raising(SystemExit(3)),
    "Ctrl-C": raising(KeyboardInterrupt()),
    "a generator's end": raising(GeneratorExit()),
    "the end of an iteration": raising(StopIteration(1)),
    "a cancellation": raising(asyncio.CancelledError()),
    "no memory": raising(MemoryError()),
}


def called(act: Callable[[], Any], workspace: Workspace, *, is_async: bool) -> tuple[Any, Any]:
    """Have an agent call a function; give what it reads, and what is traced."""

    def look() -> object:
        """Look."""
        return act()

    async def wait() -> object:
        """Wait."""
        return act()

    events: list[dict[str, Any]] = []
    granted = GrantedTool(
        tool=tool_of(python_tool(wait if is_async else look)),
        workspace=workspace,
        emit=lambda type, **fields: events.append(fields),  # noqa: A006
    )
    result: list[Any] = []

    async def main() -> None:
        with suppress(ToolError):
            result.append(await granted.call({}))

    asyncio.run(main())
    return result, events


ACTS = {**GIVEN, **RAISED}
# What a function gives is the same once it was waited for; what it raises takes another way.
CASES = [*((what, False) for what in ACTS), *((what, True) for what in RAISED)]


@pytest.mark.parametrize(("label", "is_async"), CASES)
def test_no_function_stops_the_agent(label: str, is_async: bool, workspace: Workspace) -> None:
    with bounded(size=80_000_000):
        result, (event,) = called(ACTS[label], workspace, is_async=is_async)
        assert ("error" in event) == (not result)
        assert len(dumps(result, ensure_ascii=False)) <= LARGEST_RESULT + 200
        assert len(dumps(event, ensure_ascii=False)) <= 3 * LARGEST_RESULT


NOBODY: Any = None
"""Servers know nothing of workspaces."""
RESULT = {
    "content": [
        {"type": "text", "text": "Monday", "annotations": {"audience": ["user"]}},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {
            "type": "resource",
            "resource": {"uri": "file:///x", "text": "x", "mimeType": "text/plain"},
        },
        {"type": "resource_link", "uri": "file:///x", "name": "x"},
    ],
    "structuredContent": {"day": "Monday", "of": [1, 2, {"a": None}]},
    "isError": False,
}


def answered(text: str) -> Any:
    """Return what a server says: in an envelope that fits, where that is possible."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        json.dumps(value).encode()
        return value
    return text


def test_any_answer_is_a_result_or_an_error(monkeypatch: pytest.MonkeyPatch, nightly: bool) -> None:
    seeds = range(400 if nightly else 6)
    spoilt = [altered(json.loads(json.dumps(RESULT)), Random(seed)) for seed in seeds]

    async def all_() -> None:
        for what, text in spoilt:
            if len(text) > 100_000:
                continue  # no process is given that; `test_servers` has long messages
            server = scripted({"tools/call": answered(text)}, timeout=0.5)
            async with session_with(server) as session:
                with bounded(size=len(text)):
                    try:
                        result = await session.tool("act").run({}, NOBODY)
                    except ToolError as error:
                        result = str(error)
                    assert len(dumps(result, ensure_ascii=False)) <= 4 * len(text) + 1_000, what

    async def idle() -> None:
        await (await start_session(scripted({}))).stop()

    asyncio.run(idle())  # the first session imports its library
    with watched(monkeypatch):
        asyncio.run(all_())
