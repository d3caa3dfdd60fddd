"""Progress: lines for logs, a live table for people, and neither for --quiet."""

import io
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from coterie.runtime import compile
from coterie.runtime.command.progress import _Table, progress
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.record.trace import Event, Trace
from coterie.schema import Agent, Catalogue, Execution, Team

from ...support.commands import run_on_terminal

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


def event(event_type: str, /, **fields: object) -> Event:
    return Event(type=event_type, seconds=1.5, agent="a", fields=fields)


def test_lines_tell_ends_and_retries(plan, capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    with progress(plan, quiet=False) as show:
        show(event("agent_started"))
        show(event("model_retried", kind="busy\x1b[2J", error="429: wait", wait=0.5))
        show(event("agent_finished", status="failed", seconds=2.0, usage=usage, error="429: wait"))
        show(event("agent_finished", status="cancelled", seconds=0.5, usage=usage, error="over"))
    assert capsys.readouterr().err.splitlines() == [
        "one: 1 agent",
        "   1.5 s  a: again (after 0.5 s): busy",
        "   1.5 s  a: failed, 2.0 s, 7 tokens",  # why is told once, at the end of the run
        "   1.5 s  a: cancelled at work, 0.5 s, 7 tokens",
    ]


def test_lines_tell_why_an_agent_failed_that_the_run_goes_on_without(
    plan, capsys: pytest.CaptureFixture[str]
) -> None:
    going_on = replace(plan, team=replace(plan.team, execution=Execution(on_error="degrade")))
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    with progress(going_on, quiet=False) as show:
        show(event("agent_finished", status="failed", seconds=2.0, usage=usage, error="no"))
    assert "a: failed, 2.0 s, 7 tokens: no\n" in capsys.readouterr().err


def test_lines_tell_what_a_model_refuses(plan, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"alias": "fast", "words": "No."}
    with progress(plan, quiet=False) as show:
        show(event("parameter_adapted", **fields, **adapted("temperature", "0.5", "left out")))
        newer = adapted("max_tokens", "max_tokens", "max_completion_tokens")
        show(event("parameter_adapted", **fields, **newer))
    assert capsys.readouterr().err.splitlines()[1:] == [
        "   1.5 s  a: fast refuses temperature 0.5: left out",
        "   1.5 s  a: fast refuses max_tokens: max_completion_tokens",
    ]


def adapted(parameter: str, asked: str, instead: str) -> dict[str, str]:
    return {"parameter": parameter, "asked": asked, "instead": instead}


def test_lines_tell_the_acts_of_an_open_roster(plan, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"number": 2, "sender": "a", "to": "b"}
    with progress(plan, quiet=False) as show:
        for kind, text in (("start", "Write\nit."), ("message", "x" * 500)):
            show(replace(event("message_posted"), fields={**fields, "kind": kind, "text": text}))
        show(event("agent_left", failed=False))
        show(replace(event("roster_ended", why="silence", sent=2), agent=None))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "   1.5 s  a: starts b: Write it."
    assert len(lines[2]) < 230
    assert lines[3:] == [
        "   1.5 s  a: is no longer active",
        "   1.5 s  the team: ended after 2 messages, silence",
    ]


def test_quiet_says_nothing(plan, capsys: pytest.CaptureFixture[str]) -> None:
    with progress(plan, quiet=True) as show:
        show(event("agent_started"))
    assert capsys.readouterr().err == ""


def drawn(table: _Table, width: int = 60) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(table.draw())
    return captured.get().splitlines()[-1].rstrip()


def test_the_table_shows_the_end_of_what_is_being_said(plan) -> None:
    table = _Table(plan, lambda text: text.replace("sk-0123", "[secret]"))
    trace = Trace(table, lambda _event: None)
    say = trace.words_of("a")
    assert say is not None
    trace.emit("agent_started", "a")
    say("It is \x1b[31mso\x1b[2J\n")
    say("that 漢字 ")
    assert drawn(table).endswith("It is so that 漢字")
    for piece in ("sk-", "01"):
        say(piece)
        assert drawn(table).endswith("It is so that 漢字")
    say("23, then")
    assert drawn(table).endswith("漢字 [secret],")
    say("字" * 2000)
    for width in (59, 60, 100):
        line = drawn(table, width)
        assert cell_len(line) in {width - 1, width}
        assert line.endswith("字" * 5)
    trace.emit("model_retried", "a", error="busy")
    assert drawn(table).endswith("again: busy")
    say("Again it ")
    assert drawn(table).endswith("Again it")
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    trace.emit("model_call", "a", usage=usage)
    assert drawn(table).endswith(" 7")


def test_nobody_listens_to_words_without_a_terminal(plan) -> None:
    for quiet in (False, True):
        with progress(plan, quiet=quiet) as show:
            assert Trace(show).words_of("a") is None


def test_on_a_terminal_there_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    reply = Reply(text="fine, so I say it again", delivery="paced", interval=0.1)
    with ScriptedModel(reply) as model:
        words = ("team.yaml", "-q", "Well?", "--model", f"scripted@{model.api_base}")
        code, answer, shown = run_on_terminal(tmp_path, *words, stdout=subprocess.PIPE)
    assert (code, answer) == (0, "fine, so I say it again\n")
    for text in (b"fine, so I", b"agent", b"worker", b"working", b"judge", b"done", b"2 calls"):
        assert text in shown
