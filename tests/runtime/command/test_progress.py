"""Progress: lines for logs, a live table for people, and neither for --quiet."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.runtime import compile
from coterie.runtime.command.progress import progress
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.trace import Event
from coterie.schema import Agent, Catalogue, Team

TEAM = """\
name: pair
agents:
  worker: {role: worker, prompt: Work on it.}
  judge: {role: judge, prompt: Judge it.}
topology:
  reports_to: {worker: [judge]}
"""


@pytest.fixture
def plan():
    team = Team(name="one", agents={"a": Agent(id="a", prompt="Do it.", role="\x1b[31mred")})
    return compile(team, Catalogue.of_host())


def event(kind: str, **fields: object) -> Event:
    return Event(type=kind, seconds=1.5, agent="a", fields=fields)


def test_lines_tell_ends_and_retries(plan, capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    with progress(plan, quiet=False) as show:
        show(event("agent_started"))
        show(event("model_retried", error="busy\x1b[2J"))
        show(event("agent_finished", status="failed", seconds=2.0, usage=usage, error="no"))
    assert capsys.readouterr().err.splitlines() == [
        "one: 1 agent",
        "   1.5 s  a: again: busy",
        "   1.5 s  a: failed, 2.0 s, 7 tokens: no",
    ]


def test_lines_tell_what_agents_of_an_open_roster_do(
    plan, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"number": 2, "sender": "a", "to": "b"}
    with progress(plan, quiet=False) as show:
        for kind, text in (("start", "Write\nit."), ("message", "x" * 500)):
            show(replace(event("message_posted"), fields={**one, "kind": kind, "text": text}))
        show(event("agent_left", failed=False))
        show(replace(event("roster_ended", why="silence", sent=2), agent=None))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "   1.5 s  a: starts b: Write it."
    assert len(lines[2]) < 230
    assert lines[3:] == [
        "   1.5 s  a: is active no more",
        "   1.5 s  the team: ended after 2 messages, silence",
    ]


def test_quiet_says_nothing(plan, capsys: pytest.CaptureFixture[str]) -> None:
    with progress(plan, quiet=True) as show:
        show(event("agent_started"))
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    ours, theirs = pty.openpty()
    with ScriptedModel(Reply(text="fine", latency=0.2)) as model:
        running = subprocess.Popen(
            [
                *(sys.executable, "-m", "coterie.runtime.command.run"),
                *("team.yaml", "-q", "Well?", "--model", f"scripted@{model.api_base}"),
            ],
            cwd=tmp_path,
            env={**os.environ, "MAS_HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        answer, _ = running.communicate(timeout=30)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # a terminal whose other end is closed
        pass
    os.close(ours)
    assert (running.returncode, answer) == (0, b"fine\n")
    for text in (b"agent", b"worker", b"working", b"judge", b"done", b"2 calls"):
        assert text in shown
