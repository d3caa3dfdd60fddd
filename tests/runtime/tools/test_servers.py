"""Starting tool servers: what can go wrong, in words."""

import asyncio
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from coterie.runtime.tools import server_process, servers
from coterie.runtime.tools.servers import start_session
from coterie.schema import InputError, ToolServer
from coterie.schema.values.extras import how_to_get

from .conftest import scripted, shell


def refusal(server: ToolServer) -> str:
    """Why a server cannot be used."""

    async def start() -> None:
        await (await start_session(server)).stop()

    with pytest.raises(InputError) as refused:
        asyncio.run(start())
    return str(refused.value)


def test_the_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(servers, "version", version)

    assert refusal(shell("true")) == (
        "the tool server 'odd' needs the package 'mcp', which is not installed."
        f" Run: {how_to_get('mcp')}"
    )


def test_the_library_is_too_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "version", lambda _: "2.3.0")

    assert "needs the package 'mcp', version 1; 2.3.0 is installed." in refusal(shell("true"))


@pytest.mark.parametrize("program", ["no-such-program", "/no/such/program", "./conftest.py"])
def test_the_program_is_missing(program: str) -> None:
    server = ToolServer(name="clock", command=(program, "-x"), tools=("now",))

    assert refusal(server) == (
        f"the tool server 'clock' needs the program {program!r}, which is not on the PATH."
        " Install it, or correct the command in tools.yaml."
    )


def test_the_program_cannot_be_executed(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    program.chmod(0o755)

    reason = refusal(ToolServer(name="clock", command=(str(program),), tools=("now",)))

    assert "It ended with exit code 126." in reason
    assert "No such file or directory" in reason


def test_the_server_crashes() -> None:
    reason = refusal(shell("echo no clock here >&2; exit 7"))

    assert reason.startswith("the tool server 'odd' ('sh -c echo no clock")
    assert reason.endswith("It ended with exit code 7. It last wrote:\nno clock here")


def test_the_program_speaks_to_people() -> None:
    reason = refusal(shell("echo Welcome; echo to the clock"))

    assert "It wrote 'Welcome' on its standard output, where messages belong." in reason


def test_the_program_says_nothing() -> None:
    reason = ""
    for seconds in (0.2, 2, 20, 200):  # a shell may take long to start
        reason = refusal(shell("echo waiting >&2; exec cat >/dev/null", start_timeout=seconds))
        assert f"was not ready within {seconds} seconds" in reason
        if reason.endswith("It last wrote:\nwaiting"):
            break

    assert reason.endswith("It last wrote:\nwaiting")
    assert "write a larger start_timeout in tools.yaml" in reason
    assert "must speak the Model Context Protocol" in reason


def test_the_program_talks_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "SECONDS_TO_LEAVE", 0.1)

    assert "It wrote 'y' on its standard output" in refusal(shell("exec yes"))


def test_the_program_floods_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "LARGEST_MESSAGE", 1000)

    reason = refusal(shell("head -c 1000000 /dev/zero; head -c 100000 /dev/zero >&2"))

    assert "It wrote 'a line of more than 1000 bytes'" in reason


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"initialize": {"code": -32000, "message": "closed today"}}, "closed today"),
        ({"initialize": {"protocolVersion": "1"}}, "capabilities"),
        ({"initialize": {"protocolVersion": "1", "capabilities": {}}}, "serverInfo"),
        ({"tools/list": {"code": -32601, "message": "no tools"}}, "no tools"),
        ({"tools/list": {"tools": [1]}}, "tools[0]"),
    ],
)
def test_the_server_does_not_keep_to_the_protocol(answers: object, reason: str) -> None:
    message = refusal(scripted(answers))  # type: ignore[arg-type]

    assert "could not start a session: " in message
    assert reason in message


def test_its_version_of_the_protocol_is_unknown() -> None:
    answer = {
        "protocolVersion": "1999-01-01",
        "capabilities": {},
        "serverInfo": {"name": "old", "version": "1"},
    }

    assert "1999-01-01" in refusal(scripted({"initialize": answer}))
