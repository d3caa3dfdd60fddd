"""What mas dev blame makes of damaged runs, useless answers, budgets and kills."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.blame import TextBudget, trace_of, trace_of_events, view
from coterie.runtime import Journal
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema.values.errors import InputError

from ...schema.strategies import VALUES
from ...support.commands import started
from .blaming import TASK, TEAM, Cli, Stage, fruit


def test_a_run_in_which_nobody_did_anything_is_refused(cli: Cli) -> None:
    result = cli.blame(cli.make(TEAM, TASK, "--budget", "tokens=1"))
    assert (result.code, result.calls) == (2, 0)
    assert "no agent of this run did anything" in result.err


FIELDS = ("type", "path", "messages", "text", "tool_calls", "content", "status", "error", "round")
EVENTS = "\n".join(
    json.dumps({"v": 1, "n": number, "agent": "planner", **event})
    for number, event in enumerate(
        [
            {"type": "run_started"},
            {"type": "agent_started", "backend": "llm"},
            *(
                {
                    "type": "model_call",
                    "path": f"planner/attempt 1/call {call}",
                    "messages": [{"role": "user", "content": f"{call}?"}],
                    "text": "Count.",
                    "tool_calls": [],
                }
                for call in (1, 2)
            ),
            {"type": "tool_call", "tool": "count", "arguments": {}, "result": "6"},
            {"type": "model_error", "kind": "down", "error": "down"},
            {"type": "step_failed", "error": "oops"},
            {"type": "message_posted", "to": "solver", "kind": "message", "text": "Hi."},
            {"type": "mail_taken"},
            {"type": "agent_finished", "status": "failed", "attempts": 1, "error": "down"},
        ],
        1,
    )
)


MISSING = ("events.jsonl", "run.json", "task.json", "journal.log")
LINES = {
    "list": "[1, 2]",
    "fields": '{"v": 1, "n": 3, "type": "model_call", "agent": "planner"}',
    "agent": '{"v": 1, "n": 3, "type": "agent_started", "agent": ["planner"]}',
    "kind": '{"v": 1, "n": 3, "type": "model_error", "agent": "a", "kind": []}',
}


def changed(run: Path, change: str) -> None:
    """Damage a run's folder."""
    events = run / "events.jsonl"
    lines = events.read_text().splitlines()
    match change:
        case "result":
            (run / "result.json").write_text('{"status": "done", "score": [1]}')
        case "half":
            lines[2] = lines[2][:40]
        case "order":
            lines[2], lines[3] = lines[3], lines[2]
        case "version":
            lines[2] = lines[2].replace('"v":1', '"v":7')
        case _:
            lines[2] = LINES.get(change, lines[2])
    events.write_text("\n".join(lines) + "\n")
    if change in MISSING:
        (run / change).unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("events.jsonl", "events.jsonl: no such file"),
        ("run.json", "run.json: there is no such file"),
        ("task.json", "task.json: there is no such file"),
        ("journal.log", "journal"),
        ("half", "events.jsonl:3 (no JSON: "),
        ("order", "(out of order)"),
        ("version", "events.jsonl:3 (version 7)"),
        ("fields", "events.jsonl:3 (no 't')"),
        ("agent", "events.jsonl:3 (not an event: "),
        ("kind", "events.jsonl:3 (no 't')"),
        ("result", "not the file that coterie wrote"),
        ("list", "events.jsonl:3 (no object)"),
    ],
)
def test_what_is_no_run_or_a_damaged_one_is_said(cli: Cli, change: str, message: str) -> None:
    run = cli.make()
    changed(run, change)
    result = cli.blame(run)
    assert (result.code, result.calls) == (2, 0)
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_run_that_somebody_is_at_work_on_is_refused(cli: Cli) -> None:
    run = cli.make()
    with Journal.open(run):
        result = cli.blame(run)
    assert (result.code, result.calls) == (2, 0)
    assert "process" in result.err
    assert cli.blame(cli.folder / "nowhere").code == 2
    assert cli.blame(run, "--meta-model", "gpt").code == 2
    assert cli.blame(run, "--budget", "sense=1").code == 2


def test_a_model_that_gives_no_answer_of_use_is_said(cli: Cli, stage: Stage) -> None:
    run = cli.make()
    stage.script = lambda _: Reply(text="no")
    result = cli.blame(run)
    assert (result.code, result.calls) == (1, 6)
    assert "of no analyzer's answers anything was of use" in result.err
    assert not (run / "blame/collaborative.json").exists()


def test_a_budget_stops_it_and_a_larger_one_goes_on(cli: Cli) -> None:
    run = cli.make()
    result = cli.blame(run, "--budget", "calls=4")
    assert (result.code, result.calls) == (3, 4)
    assert "Repeat the command to resume." in result.err
    result = cli.blame(run, "--budget", "calls=9", "--json")
    assert (result.code, result.calls) == (0, 5)
    assert result.json["usage"]["calls"] == 9


def test_killed_it_goes_on_without_paying_twice(cli: Cli, stage: Stage) -> None:
    run = cli.make()
    clean = cli.make()
    expected = cli.blame(clean, "--json")
    asked = len(cli.model.calls)
    count = iter(range(100))

    def hangs(request: Request) -> Reply:
        if next(count) >= 5:
            stage.hung.set()
            return Reply.fault("hang")
        return fruit(request)

    stage.script = hangs
    words = ("blame", str(run), "--model", cli.address)
    with started(cli.folder, *words, command="dev") as killed:
        assert stage.hung.wait(300)
        killed.kill()
    # The model takes note of a call once it knows what to answer: the last one may be late.
    cli.model.wait_for(lambda calls: len(calls) == asked + 6)
    stage.script = fruit
    result = cli.blame(run, "--json").ended(0)
    assert result.calls <= 9 - 3
    assert result.json["votes"] == expected.json["votes"]
    assert result.json["submissions"] == expected.json["submissions"]


def test_secrets_stay_on_the_host(cli: Cli, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    run = cli.make()
    monkeypatch.setenv("FRUIT_API_KEY", "Count the pears")
    stage.script = lambda request: Reply.json(
        {**json.loads(str(fruit(request).text)), "reason": "Count the pears"}
    )
    result = cli.blame(run).ended(0)
    assert all("Count the pears" not in call.text for call in cli.model.calls[3:])
    assert "Count the pears" not in result.out
    text = "".join(path.read_text() for path in (run / "blame").glob("*.json"))
    assert "Count the pears" not in text


def test_a_folder_without_a_question_is_no_record_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text('{"id": "t"}')
    with pytest.raises(InputError, match="it asks nothing"):
        trace_of(tmp_path)


@given(st.integers(2, 9), st.sampled_from(FIELDS), VALUES)
def test_whatever_stands_in_an_event_is_read_or_refused(place: int, name: str, value: Any) -> None:
    events = [json.loads(line) for line in EVENTS.splitlines()]
    events[place][name] = value
    with contextlib.suppress(InputError):
        trace = trace_of_events(events, "events.jsonl", question="?")
        assert view(trace.steps, TextBudget(whole=500, step=100), own=True).text
