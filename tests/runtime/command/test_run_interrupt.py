"""Ctrl-C at any moment: nothing is left running, and the folder of the run can be read."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import detect
from coterie.schema import load_team

from ...came import invoked, invoked_in, started
from ...waiting import wait_for

MOMENTS = [round(random.Random(seed).uniform(0.2, 3.0), 2) for seed in range(20)]
WORK = Reply.code("import time\nprint('working')\ntime.sleep(0.5)").replace(latency=0.1)


def processes_of(folder: Path) -> list[str]:
    """The command lines of all processes that have to do with a folder."""
    texts: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in line:
            texts.append(f"{entry.name} {line}")
    return texts


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
@pytest.mark.parametrize(
    "moment",
    [
        *("it has a folder", "a model is asked", "code runs"),
        *(pytest.param(moment, marks=pytest.mark.nightly) for moment in MOMENTS),
    ],
)
def test_nothing_is_left(moment: str | float, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with ScriptedModel(WORK) as model:
        running = started(
            tmp_path,
            *("seed:majority_vote", "--query", "Work.", "--runs", str(tmp_path / "runs")),
            *("--model", f"scripted@{model.api_base}"),
            env={"TMPDIR": str(tmp_path / "tmp")},
        )
        match moment:
            case "it has a folder":
                wait_for(lambda: [*(tmp_path / "runs").glob("*")], "no folder is made")
            case "a model is asked":
                model.wait_for(lambda calls: len(calls) > 0)
            case "code runs":  # the first code of six workers, at least of one of them
                wait_for(lambda: "_worker.py" in str(processes_of(tmp_path)), "no code runs")
            case _:
                time.sleep(float(moment))  # the moment is what this test varies
        running.send_signal(signal.SIGINT)
        _, text = running.communicate(timeout=300)
    assert running.returncode in {130, -signal.SIGINT}, text
    assert "Traceback" not in text or running.returncode == -signal.SIGINT
    assert processes_of(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    for folder in (tmp_path / "runs").glob("*"):
        assert json.loads((folder / "result.json").read_text())["status"] == "interrupted"
        load_team(folder / "team.yaml")
        for line in (folder / "events.jsonl").read_text().splitlines():
            json.loads(line)


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
