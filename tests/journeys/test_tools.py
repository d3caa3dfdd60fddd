"""A server that npx starts, and a tool that a person approves: sections 8 and 9."""

import json
import os
import sys
from pathlib import Path

import click
import pytest
import yaml

from coterie.runtime.doubles import Reply
from coterie.runtime.tools import approval
from coterie.runtime.tools.approval import AtTerminal

from ..support.newcomer import Newcomer
from .conftest import ROOT, SECTIONS, Play

SERVER = ROOT / "tests/runtime/tools/scripted_server.py"
TRAIN = "The train leaves at nine."
ANSWERS = {
    "tools/list": {
        "tools": [
            {
                "name": name,
                "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
            }
            for name in ("read_text_file", "write_file")
        ]
    },
    "tools/call": {"content": [{"type": "text", "text": TRAIN}]},
}


def fake_npx(folder: Path) -> None:
    """Write a program `npx` that starts the scripted server, and notes what it was given."""
    words = [sys.executable, "-I", "-S", str(SERVER), json.dumps(ANSWERS)]
    program = folder / "npx"
    program.write_text(
        f"#!{sys.executable} -IS\nimport os, sys\n"
        f"open({str(folder / 'given')!r}, 'w').write(' '.join(sys.argv[1:]))\n"
        f"os.execv({sys.executable!r}, {words!r})\n"
    )
    program.chmod(0o755)


def test_a_server_that_npx_starts_answers(
    newcomer: Newcomer, play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    fake_npx(bin_folder)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    call = Reply.tool("notes_read_text_file", path="train.txt")
    model = play([call, Reply.tool("final_answer", answer="At nine.")])
    newcomer.follow(SECTIONS[8])
    given = (bin_folder / "given").read_text()
    assert given == "-y @modelcontextprotocol/server-filesystem ."
    assert TRAIN in model.calls[1].text
    server = yaml.safe_load((newcomer.folder / "tools.yaml").read_text())["servers"]["notes"]
    assert server["tools"] == ["read_text_file", "write_file"]
    assert server["start_timeout"] == 120  # npx downloads it first


class Person(AtTerminal):
    """Someone at a terminal, which shows what they type."""

    async def _line(self) -> str:
        click.echo("y", err=True)
        return "y\n"


def test_a_person_approves_a_call(
    newcomer: Newcomer, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval, "terminal_approver", lambda: Person(sys.stdin))
    call = Reply.tool("refund", order="17", euros=30)
    model = play([call, Reply.tool("final_answer", answer="30 euros are on their way.")])
    newcomer.follow(SECTIONS[9])
    assert "30.00 euros of order 17 are on their way." in model.calls[1].text


def test_without_a_terminal_the_page_says_what_to_write(newcomer: Newcomer, play: Play) -> None:
    model = play([])
    blocks, _, _ = SECTIONS[9].partition("```console")
    newcomer.follow(blocks)
    refused = newcomer.ran('mas-run desk.yaml -q "Order 17 came broken."').ended(2)
    assert "--approve refund" in refused.err
    assert "`--approve refund`" in SECTIONS[9]
    assert not model.calls
