"""An agent took the same time, whoever shows it: terminal, folder, `mas-view --text`, browser."""

import json
import re
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.showing.recorded import Recorded

from ...support.commands import invoked, invoked_in
from ...traces import spans_in
from ...webpage import parsed

TEAM = """\
name: pair
agents:
  asker: {agent_type: ToolCallingAgent, prompt: "Ask the tools.", tools: [weekday], max_steps: 4}
  judge: {prompt: "You are [judge]. Decide it."}
topology: {reports_to: {asker: [judge]}}
execution: {rounds: {most: 2, until: never}}
"""
TOOL = '''\
def weekday(day: str) -> str:
    """Return the weekday of a date."""
    return "Monday"
'''
SCALE = 500
"""What makes times of a test as long as people wait."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("times")
    (folder / "team.yaml").write_text(TEAM)
    (folder / "tools.py").write_text(TOOL)
    (folder / "tools.yaml").write_text("python: tools.py:weekday\n")
    asks, ends = Reply.tool("weekday", day="2026"), Reply.tool("final_answer", answer="Monday")
    answers = {"[judge]": "Monday", "Ask the tools.": [asks, ends, asks, ends]}
    with ScriptedModel(answers) as model:
        words = ["team.yaml", "-q", "Which day?", "--model", f"m@{model.api_base}"]
        done = invoked_in(folder, mas_run, words, "mas-run")
    assert done.code == 0, done.err
    (path,) = (folder / "runs").iterdir()
    (path / "said.txt").write_text(done.err)
    return path


def longer(run: Path) -> None:
    """Let a recorded run have taken longer."""
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    for event in events:
        event |= {name: event[name] * SCALE for name in ("t", "seconds") if name in event}
    (run / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))


def test_all_who_show_a_time_show_the_same_one(run: Path, tmp_path: Path) -> None:
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    result = json.loads((run / "result.json").read_text())
    for agent in ("asker", "judge"):
        ends = [
            event
            for event in events
            if event["type"] == "agent_finished" and event["agent"] == agent
        ]
        starts = [
            event
            for event in events
            if event["type"] == "agent_started" and event["agent"] == agent
        ]
        took = sum(end["seconds"] for end in ends)
        assert len(ends) == 2
        # From start to end, with all that it waited for.
        assert took <= sum(end["t"] for end in ends) - sum(start["t"] for start in starts) + 0.001
        works = ("model_call", "tool_call")
        waited = [
            event for event in events if event["type"] in works and event.get("agent") == agent
        ]
        assert sum(item["seconds"] for item in waited) <= took
        assert result["agents"][agent]["seconds"] == pytest.approx(took, abs=0.002)
        tokens = sum(end["usage"]["prompt_tokens"] for end in ends)
        assert result["agents"][agent]["usage"]["prompt_tokens"] == tokens
        shown = re.findall(rf"{agent}[^:]*: done, ([\d.]+) s", (run / "said.txt").read_text())
        assert shown == [f"{end['seconds']:.1f}" for end in ends]
    longer(run)
    recorded = Recorded.of(run)
    traces = ["--otel", str(tmp_path / "spans.jsonl")]
    text = invoked(mas_view, ["--text", str(run), *traces], "mas-view").out
    page = tmp_path / "report.html"
    assert invoked(mas_view, [str(run), "-o", str(page)], "mas-view").code == 0
    spans = spans_in(tmp_path / "spans.jsonl")
    for agent in ("asker", "judge"):
        took = recorded.time.seconds_of(agent)
        assert took == pytest.approx(SCALE * result["agents"][agent]["seconds"], abs=0.01 * SCALE)
        assert re.search(rf"^  {agent} .*, {took:.1f} s", text, re.M)
        report = [span.fields["coterie.seconds"] for span in spans if span.name.endswith(agent)]
        assert sum(report) == pytest.approx(took)
        row = next(row for row in parsed(page).all("tr") if row.text.startswith(agent))
        minutes, rest = divmod(round(took), 60)
        words = f"{took:.2f} s" if took < 10 else f"{took:.1f} s"
        assert (words if took < 120 else f"{minutes} minutes {rest} s") in row.text
