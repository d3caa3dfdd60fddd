"""`mas dev tools import`: servers of other programs, as tools.yaml has them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.tools import main
from coterie.runtime.tools.client_file import servers_in
from coterie.schema import InputError, load_tools

from ...support.commands import invoked_in

SERVER = Path(__file__).parents[1] / "tools" / "scripted_server.py"
KEY = "sk-0123456789abcdefghijklmnop"


def written(folder: Path, servers: Any) -> Path:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def test_imported_files_hold_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOCK_TOKEN", "")
    monkeypatch.delenv("CLOCK_TOKEN")
    args = ["-I", "-S", str(SERVER), "{}"]
    written(
        tmp_path,
        {
            "My-Clock": {"command": sys.executable, "args": args, "env": {"CLOCK_TOKEN": KEY}},
            "gone": {"command": "no-such-program-anywhere"},
            "off": {"command": "no-such-program-anywhere", "disabled": True},
        },
    )
    done = invoked_in(tmp_path, main, ["import", "mcp.json"], "mas dev tools").ended(0)
    assert KEY not in done.out + done.err
    assert "note: my_clock: set CLOCK_TOKEN; values in FILE are not copied." in done.err
    assert "note: gone is left out: the tool server 'gone' needs the program" in done.err
    (tmp_path / "tools.yaml").write_text(done.out)
    (server,) = load_tools(tmp_path / "tools.yaml").servers.values()
    assert (server.name, server.tools, server.env) == (
        "my_clock", ("act", "explode", "leave_child", "stay"), ("CLOCK_TOKEN",),
    )  # fmt: skip
    assert server.command == (sys.executable, *args)


def test_addresses_take_keys_and_headers_from_variables(tmp_path: Path) -> None:
    headers = {
        "Authorization": "Bearer ${env:WEATHER}", "X-Tenant": "us", "X-Zone": "${ZONE}"
    }  # fmt: skip
    path = written(
        tmp_path,
        {
            "weather": {"type": "http", "url": "https://weather.example/mcp", "headers": headers},
            "maps": {
                "url": "https://maps.example/mcp",
                "headers": {"authorization": f"Bearer {KEY}"},
            },
        },
    )
    weather, maps = servers_in(path)
    assert weather.server.key_env == "WEATHER"
    assert weather.server.headers_env == {"X-Tenant": "WEATHER_X_TENANT", "X-Zone": "ZONE"}
    assert weather.values == {"WEATHER_X_TENANT": "us"}
    assert (maps.server.key_env, maps.values) == ("MAPS_KEY", {"MAPS_KEY": KEY})


@pytest.mark.parametrize(
    ("servers", "why"),
    [
        ({}, "no mcpServers"),
        (
            {"a": {"url": "https://a.example/sse", "type": "sse"}},
            "a: it has neither a command nor a url",
        ),
        ({"a": {"command": "x", "args": [KEY]}}, "a part of it looks like a key"),
        ({"a": {"command": "x", "args": "y"}}, "'y' is not a list"),
        ({"a": {"command": "x", "env": {"A": 1}}}, "1 is not text"),
        ({"a": "x"}, "'x' is not a server"),
        ({"--": {"command": "x"}}, "its name has no letter"),
        ({"a b": {"command": "x"}, "A-B": {"command": "x"}}, "two servers would be called 'a_b'"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, servers: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        servers_in(written(tmp_path, servers))


def test_a_file_of_something_else_is_said(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text("servers: {}")
    with pytest.raises(InputError, match=r"mcp\.json: not JSON"):
        servers_in(tmp_path / "mcp.json")
