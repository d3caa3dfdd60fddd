"""Ctrl-C at any moment: nothing is left running, and the folder of the run can be read."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import detect
from coterie.schema import load_team

ROOT = Path(__file__).parents[3]
MOMENTS = [round(random.Random(seed).uniform(0.2, 3.0), 2) for seed in range(20)]
BY_DAY = 4
WORK = Reply.code("import time\nprint('working')\ntime.sleep(0.5)").replace(latency=0.1)


def processes_of(folder: Path) -> list[str]:
    """The command lines of all processes that have to do with a folder."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in line:
            found.append(f"{entry.name} {line}")
    return found


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
@pytest.mark.parametrize("moment", MOMENTS)
def test_nothing_is_left(moment: float, nightly: bool, tmp_path: Path) -> None:
    if moment not in MOMENTS[:BY_DAY] and not nightly:
        pytest.skip("one of many moments; run with --nightly")
    (tmp_path / "tmp").mkdir()
    with ScriptedModel(WORK) as model:
        running = subprocess.Popen(
            [
                *(sys.executable, "-m", "coterie.runtime.command.run"),
                *(str(ROOT / "seeds" / "majority_vote.yaml"), "--query", "Work."),
                *("--model", f"scripted@{model.api_base}", "--runs", str(tmp_path / "runs")),
            ],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(moment)  # the moment is what this test varies
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=15)
    assert running.returncode in {130, -signal.SIGINT}, said
    assert "Traceback" not in said or running.returncode == -signal.SIGINT
    assert processes_of(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    for folder in (tmp_path / "runs").glob("*"):
        assert json.loads((folder / "result.json").read_text())["status"] == "interrupted"
        load_team(folder / "team.yaml")
        for line in (folder / "events.jsonl").read_text().splitlines():
            json.loads(line)
