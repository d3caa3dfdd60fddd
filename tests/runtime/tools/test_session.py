"""Sessions with tool servers: what they offer, and what calls come back with."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.tools import ToolError, server_process
from coterie.runtime.tools.servers import start_session
from coterie.schema import InputError, ToolServer

from ...waiting import PATIENCE
from .conftest import scripted, session_with

CLOCK = ToolServer(
    name="clock",
    command=(sys.executable, str(Path(__file__).with_name("clock_server.py"))),
    tools=("now", "weekday", "chime", "stop_clock", "environment", "sleep", "tomorrow"),
    env=("CLOCK_ZONE", "CLOCK_NEVER_SET"),
    timeout=120,
    start_timeout=PATIENCE,
)
NOBODY: Any = None
"""Servers know nothing of workspaces."""


class Clock:
    """A session with a real server, for the tests of this module."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.session = runner.run(start_session(CLOCK))

    def call(self, name: str, **arguments: Any) -> Any:
        return self.runner.run(self.session.tool(name).run(arguments, NOBODY))


@pytest.fixture(scope="module")
def clock() -> Iterator[Clock]:
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("CLOCK_ZONE", "CET")
        patch.setenv("CLOCK_SECRET", "s3cret")
        clock = Clock(runner)
        yield clock
        runner.run(clock.session.stop())


def test_a_tool_as_the_server_describes_it(clock: Clock) -> None:
    tool = clock.session.tool("now")

    assert (tool.name, tool.identifier) == ("clock.now", "clock_now")
    assert tool.description == "Tell the time."
    assert tool.parameters["properties"]["zone"]["default"] == "UTC"


def test_a_long_description_is_cut(clock: Clock) -> None:
    assert clock.session.tool("weekday").description == "x" * 2_000


def test_only_what_tools_yaml_offers(clock: Clock) -> None:
    with pytest.raises(InputError, match=r"does not offer the tool 'explode'.*chime, environment"):
        clock.session.tool("explode")


def test_only_what_the_server_has(clock: Clock) -> None:
    with pytest.raises(InputError) as refusal:
        clock.session.tool("tomorrow")

    assert str(refusal.value) == (
        "the tool server 'clock' has no tool 'tomorrow'. It has chime, environment, now,"
        " sleep, stop_clock, weekday. Correct its tools in tools.yaml."
    )


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("now", {"zone": "CET"}, "12:00 CET"),
        ("weekday", {"day": 1}, {"day": 1, "name": "Monday"}),
        ("chime", {}, "ding\n[image, image/png, 12 bytes, not shown]\nWind it up."),
    ],
)
def test_texts_structures_and_other_answers(
    clock: Clock, name: str, arguments: dict[str, Any], answer: Any
) -> None:
    assert clock.call(name, **arguments) == answer


def test_a_failure(clock: Clock) -> None:
    with pytest.raises(ToolError, match="the clock is locked"):
        clock.call("stop_clock")


def test_the_server_sees_the_variables_that_tools_yaml_names(clock: Clock) -> None:
    known = {"PATH", "HOME", "LANG", "CLOCK_ZONE"} & set(os.environ | {"CLOCK_ZONE": ""})

    assert {name for name in clock.call("environment") if not name.startswith("LC_")} == known


def test_calls_side_by_side(clock: Clock) -> None:
    async def calls() -> list[Any]:
        tool = clock.session.tool("now")
        zones = (f"UTC+{hour}" for hour in range(12))
        return await asyncio.gather(*(tool.run({"zone": zone}, NOBODY) for zone in zones))

    assert clock.runner.run(calls()) == [f"12:00 UTC+{hour}" for hour in range(12)]


def test_a_cancelled_call_leaves_the_session_usable(clock: Clock) -> None:
    async def cancelled() -> None:
        call = asyncio.create_task(clock.session.tool("sleep").run({}, NOBODY))
        await clock.session.tool("now").run({}, NOBODY)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    clock.runner.run(cancelled())

    assert clock.call("now") == "12:00 UTC"


def called(answers: dict[str, Any], **fields: Any) -> Any:
    """What the tool of a scripted server answers."""

    async def call() -> Any:
        async with session_with(scripted(answers, **fields)) as session:
            return await session.tool("act").run({}, NOBODY)

    return asyncio.run(call())


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"content": []}, ""),
        ({}, ""),
        (
            {"content": [{"type": "smell"}, {"type": "text", "text": "beside it"}]},
            "[a part of the kind 'smell', which cannot be shown]\nbeside it",
        ),
        (
            {"content": [{"type": "text", "text": "a"}] * 1_002},
            "a\n" * 1_000 + "[2 more parts are left out]",
        ),
        ({"content": [{"type": "text", "text": "lone \ud83d"}]}, "lone \ufffd"),
        ({"content": [], "structuredContent": {"result": [1, 2]}}, [1, 2]),
        (
            {"content": [], "structuredContent": {"result": 1, "unit": "s"}},
            {"result": 1, "unit": "s"},
        ),
        (
            {"content": [{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]},
            "[audio, audio/wav, 3 bytes, not shown]",
        ),
        (
            {"content": [{"type": "resource_link", "uri": "file:///a", "name": "manual"}]},
            "[link to file:///a: manual]",
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}}]},
            "[resource, of unknown type, 3 bytes, not shown]",
        ),
    ],
)
def test_all_kinds_of_answers(answer: dict[str, Any], value: Any) -> None:
    assert called({"tools/call": answer}) == value


SILENT = (None, "{not a message")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"content": [], "isError": True}, "the tool failed and does not say why."),
        ({"code": -32602, "message": "no such zone"}, "the tool server refused: no such zone"),
        ('{"jsonrpc": "2.0", "result": {}}', "its reply cannot be read: {"),
        ('{"jsonrpc": "2.0", "id": 2, "result": {"content": [}', "its reply cannot be read: {"),
        *((silent, "the tool did not answer within 0.2 seconds.") for silent in SILENT),
    ],
)
def test_all_kinds_of_failures(answer: Any, reason: str) -> None:
    with pytest.raises(ToolError) as refusal:
        called({"tools/call": answer}, timeout=0.2 if answer in SILENT else PATIENCE)

    assert str(refusal.value).startswith(reason)


def test_a_long_failure_is_cut() -> None:
    answer = {"content": [{"type": "text", "text": "x" * 10_000}], "isError": True}

    with pytest.raises(ToolError, match=r"^x{2000}…$"):
        called({"tools/call": answer})


async def test_tools_on_several_pages() -> None:
    page = [{"name": "rest", "inputSchema": {"type": "object"}}]
    last = [{"name": "act", "title": "Act!", "inputSchema": {"type": "object"}}]
    answers = {"tools/list": {"tools": page, "nextCursor": "2"}, "tools/list 2": {"tools": last}}
    async with session_with(scripted(answers)) as session:
        assert session.tool("act").description == "Act!"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "objekt"}, "of the type 'objekt', and models give an object only"),
        ({"properties": {"a": {"type": "objekt"}}}, "with an invalid JSON Schema: 'objekt' is not"),
        ({"properties": {"a": {"$ref": "#/$defs/B"}}}, "refer to '#/$defs/B', which is not there"),
        ({"properties": {"a": {"pattern": "("}}}, "with an invalid JSON Schema: '(' is not a"),
        ({"description": "x" * 30_000}, "has more than 20000 characters"),
    ],
)
def test_a_description_of_arguments_that_cannot_be_used(schema: Any, reason: str) -> None:
    tools = {"tools/list": {"tools": [{"name": "act", "inputSchema": schema}]}}

    with pytest.raises(InputError) as refusal:
        called(tools)

    assert str(refusal.value).startswith("the tool 'scripted.act'")
    assert reason in str(refusal.value)


def test_too_many_values_are_an_error_for_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "MOST_VALUES_OF_TOOL", 100)
    many = {"content": [{"type": "text", "text": "a"}] * 60}
    with pytest.raises(ToolError, match="of its answer: it has too many values"):
        called({"tools/call": many})


def test_a_message_beyond_its_bound_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    long = {"tools/call": {"content": [{"type": "text", "text": "a" * 100_000}]}}
    assert len(called(long)) == 100_000
    monkeypatch.setattr(server_process, "SECONDS_TO_LEAVE", 0.1)
    for most in (50_000, 90_000):  # the second line ends where it is found to be too long
        monkeypatch.setattr(server_process, "LARGEST_MESSAGE", most)
        with pytest.raises(ToolError, match=f"cannot be read: a line of more than {most} bytes"):
            called(long)


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        (7, "session: tools: Input should be a valid list, not 7."),
        (["act"], "session: tools[0]: Input should be a valid dictionary, not 'act'."),
        ([{"name": 7}, {}], "has no tool 'act'. It has none."),
        ([{"name": "\u202eact\x1b[2J"}], r"has no tool 'act'. It has '\u202eact\x1b[2J'."),
    ],
)
def test_a_list_of_tools_that_is_none_is_told_on_one_line(tools: Any, reason: str) -> None:
    with pytest.raises(InputError) as refusal:
        called({"tools/list": {"tools": tools}})
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)
