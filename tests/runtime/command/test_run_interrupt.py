"""Agents that Ctrl-C or a limit cancelled, wherever a run is told."""

import re
import signal
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel

from ...support.commands import invoked, invoked_in, started

CREW = """\
name: crew
agents:
  quick: {prompt: You are quick.}
  slow: {prompt: You are slow.}
  judge: {prompt: You judge.}
topology: {reports_to: {quick: [slow], slow: [judge]}}
"""


@pytest.mark.parametrize("ends", ["Ctrl-C", "a limit"])
def test_cancelled_agents_are_told_by_progress_summary_and_show(ends: str, tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(CREW)
    with ScriptedModel({"You are slow": Reply.fault("hang"), "": "so"}) as model:
        words = ("team.yaml", "-q", "Go.", "--model", f"m@{model.api_base}")
        if ends == "a limit":
            result = invoked_in(tmp_path, mas_run, [*words, "--budget", "calls=1"], "mas-run")
            code, text = result.code, result.err
        else:
            running = started(tmp_path, *words)
            model.wait_for(lambda calls: len(calls) == 2)
            running.send_signal(signal.SIGINT)
            _, text = running.communicate(timeout=300)
            code = running.returncode
    assert code == (3 if ends == "a limit" else 130), text
    assert "s  quick: done, " in text
    assert "s  slow: cancelled at work, " in text
    assert "s  judge: cancelled before it began\n" in text
    assert "\n2 agents cancelled (judge, slow), " in text
    (run,) = (tmp_path / "runs").iterdir()
    shown = invoked(mas_view, ["--text", str(run)], "mas-view").out
    assert re.search(r"★ the answer +cancelled$", shown, re.MULTILINE)
    assert re.search(r"^  slow +cancelled, ", shown, re.MULTILINE)
    assert re.search(r"^  judge +cancelled, 0 calls", shown, re.MULTILINE)
    assert "s  slow: cancelled at work, " in shown
    states = invoked(mas_view, ["--text", str(run), "--json"], "mas-view").json["agents"]
    assert {name: state["state"] for name, state in states.items()} == {
        "quick": "done",
        "slow": "cancelled",
        "judge": "cancelled",
    }
