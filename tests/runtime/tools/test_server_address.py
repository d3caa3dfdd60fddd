"""Tool servers at an address: what they are sent, and what agents are told when they are gone."""

import asyncio
import json
import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from coterie.runtime.tools import Toolbox, ToolError, server_address
from coterie.runtime.tools.servers import start_session
from coterie.schema import InputError, ToolServer

from .conftest import session_with

NOBODY: Any = None
RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "clock", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "now", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "12:00"}]},
}


class Clock(ThreadingHTTPServer):
    """A tool server that is spoken with over HTTP."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.heard: list[dict[str, str]] = []
        self.refuses: int | None = None
        self.results = RESULTS
        self.encoding = "identity"
        self.ahead: bytes | None = None  # events ahead of each answer, where it answers in events

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a client that has its answer closes the connection."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"


class Answering(BaseHTTPRequestHandler):
    server: Clock  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        self.server.heard.append({name.lower(): value for name, value in self.headers.items()})
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.refuses is not None:
            self.reply(self.server.refuses, b"")
        elif "id" not in asked:
            self.reply(202, b"")
        else:
            result = self.server.results[asked["method"]]
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
            content = json.dumps(answer).encode()
            if (ahead := self.server.ahead) is not None:
                content = ahead + b"data: " + content + b"\n\n"
            self.reply(200, content)

    def do_GET(self) -> None:
        self.reply(405, b"")

    do_DELETE = do_GET  # noqa: N815 - the library's name

    def reply(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Location", "http://h/mcp")
        is_stream = self.server.ahead is not None
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.send_header("Content-Encoding", self.server.encoding)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextmanager
def clock() -> Generator[Clock]:
    with Clock() as served:
        thread = threading.Thread(
            target=served.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def at(url: str, **fields: Any) -> ToolServer:
    return ToolServer(name="clock", url=url, tools=("now",), timeout=60, **fields)


async def asked(server: ToolServer) -> Any:
    async with session_with(server) as session:
        return await session.tool("now").run({}, NOBODY)


def test_its_tools_are_called_with_key_and_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOCK_KEY", "s3cret")
    monkeypatch.setenv("CLOCK_TENANT", "us")
    with clock() as served:
        server = at(served.url, key_env="CLOCK_KEY", headers_env={"X-Tenant": "CLOCK_TENANT"})
        assert asyncio.run(asked(server)) == "12:00"
        sent = {(fields["authorization"], fields["x-tenant"]) for fields in served.heard}
    assert sent == {("Bearer s3cret", "us")}
    assert Toolbox({"clock": server}).secrets() == {"s3cret", "us"}


def test_a_variable_that_is_not_set_is_said() -> None:
    with pytest.raises(InputError, match="'clock' needs the variable CLOCK_NEVER_SET"):
        asyncio.run(asked(at("http://127.0.0.1:9/mcp", key_env="CLOCK_NEVER_SET")))


def test_a_server_that_is_not_there_is_an_input_error() -> None:
    with clock() as served:
        url = served.url
    with pytest.raises(InputError) as refused:
        asyncio.run(asked(at(url)))
    text = str(refused.value)
    assert text.startswith(f"the tool server 'clock' ('{url}') could not start a session")
    assert "It cannot be reached: All connection attempts failed." in text


REDIRECTS = (301, 302, 303, 307, 308)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, r"It answered 401 Unauthorized\."),
        *(
            (it, r"redirects to 'http://h/mcp'\. Write that url")
            for it in (301, 302, 303, 307, 308)
        ),
    ],
)
def test_a_server_that_refuses_says_how_and_one_that_redirects_is_not_followed(
    status: int, words: str
) -> None:
    with clock() as served:
        served.refuses = status
        with pytest.raises(InputError, match=words):
            asyncio.run(asked(at(served.url)))


@pytest.mark.parametrize("end", ["\r", "\n", "\u00e9"])
def test_an_unsendable_key_is_refused_unseen(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOCK_KEY", f"s3cret{end}")
    with pytest.raises(InputError, match=r"CLOCK_KEY .* is not one line of ASCII") as refused:
        asyncio.run(asked(at("http://127.0.0.1:9/mcp", key_env="CLOCK_KEY")))
    assert "s3cret" not in str(refused.value)


async def test_agents_go_on_without_a_server_that_fails_and_with_it_again() -> None:
    with clock() as served:
        session = await start_session(at(served.url))
        served.refuses = 503
        with pytest.raises(ToolError, match="'clock' is unavailable") as refused:
            await session.tool("now").run({}, NOBODY)
        assert refused.value.detail == "It answered 503 Service Unavailable."
        served.refuses = None
        result = await session.tool("now").run({}, NOBODY)
        await session.stop()
        assert result == "12:00"


async def test_an_answer_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_address, "LARGEST_MESSAGE", 20_000)
    long = {"content": [{"type": "text", "text": "x" * 30_000}]}
    with clock() as served:
        session = await start_session(at(served.url))
        served.results = {**RESULTS, "tools/call": long}
        with pytest.raises(ToolError) as refused:
            await session.tool("now").run({}, NOBODY)
        await session.stop()
        assert "an answer of more than 20000 bytes" in refused.value.detail


async def test_each_event_is_read_up_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_address, "LARGEST_MESSAGE", 100_000)
    long = {"content": [{"type": "text", "text": "x" * 300_000}]}
    note = {"method": "notifications/message", "params": {"level": "info", "data": "x" * 90}}
    event = b"data: %b\n\n" % json.dumps({"jsonrpc": "2.0", **note}).encode()
    words = "its reply cannot be read: it has more than 100000 bytes"
    with clock() as served:
        served.ahead = 1_000 * event
        session = await start_session(at(served.url))
        result = await session.tool("now").run({}, NOBODY)
        served.results = {**RESULTS, "tools/call": long}
        with pytest.raises(ToolError) as refused:
            await session.tool("now").run({}, NOBODY)
        await session.stop()
        assert (result, str(refused.value)) == ("12:00", words)


def test_an_answer_that_is_compressed_unasked_is_not_unpacked() -> None:
    with clock() as served:
        served.encoding = "gzip"
        with pytest.raises(InputError, match=r"It compresses its answers \('gzip'\) unasked"):
            asyncio.run(asked(at(served.url)))
        assert {heard["accept-encoding"] for heard in served.heard} == {"identity"}


def test_what_a_server_writes_wrongly_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a command
    with clock() as served:
        served.ahead = b"event: \x1b[2J\ndata: 1\n\ndata: {\x1b[2J\n\n"
        served.ahead += b'data: {"jsonrpc": "2.0", "method": "odd", "params": {"x": 1}}\n\n'
        served.ahead += b'data: {"jsonrpc": "2.0", "id": "a", "method": "odd"}\n\n'
        assert asyncio.run(asked(at(served.url))) == "12:00"
    assert capsys.readouterr().err == ""
