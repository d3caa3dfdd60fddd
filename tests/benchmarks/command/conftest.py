"""`mas-bench` in a folder with the files of a small invented benchmark, and a model that adds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coterie.benchmarks.bbeh.examples import SUBTASKS
from coterie.benchmarks.command import main
from coterie.runtime.doubles import Replies, Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...came import Came, invoked
from ...support.processes import Child
from ..bbeh.published import Example, task_file

SOLO = 'name: solo\nagents:\n  one: {prompt: "You are alone."}\nexecution: {max_retries: 0}\n'
PAIR = """\
name: pair
agents:
  first: {prompt: "You are [first]."}
  second: {prompt: "You are [second]."}
topology: {reports_to: {first: [second]}}
execution: {max_retries: 0}
"""
NICHES = SUBTASKS[:3]
EACH = 8
NOWHERE = "m@http://127.0.0.1:9/v1"
START = "from coterie.benchmarks.command import main; main(prog_name='mas-bench')"


def examples(subtask: str) -> list[Example]:
    first = 10 * SUBTASKS.index(subtask)
    return [(f"How much is {first + n} + 1?", str(first + n + 1)) for n in range(EACH)]


def adds(request: Request) -> Reply:
    """Add as asked; all but 7, 17, 27 and so on."""
    n = int(re.findall(r"How much is (\d+) \+", message_text(request))[-1])
    return Reply(text=f"The answer is: {n + 1 if n % 10 != 7 else 'unknown'}")


@dataclass(kw_only=True)
class Cli:
    """A folder in which somebody uses `mas-bench`."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def bench(self, *words: str, replies: Replies | None = None) -> Came:
        """Run a command in this process; with replies, the default model gives them."""
        if replies is None:
            return invoked(main, words, "mas-bench")
        with ScriptedModel(replies) as model:
            result = invoked(main, [*words, "--model", f"m@{model.api_base}"], "mas-bench")
            result.calls = len(model.calls)
            return result

    def run(self, *words: str, team: str = "solo", replies: Replies | None = adds) -> Came:
        """Run a team on the mini set, once per task."""
        options = ["--team", f"{team}.yaml", "--data", "data", "--trials", "1", "--quiet"]
        return self.bench("run", "bbeh-mini", *options, *words, replies=replies)

    def begun(self, *words: str) -> Child:
        """Begin a command in a child of this process."""
        return Child(lambda: invoked(main, words, "mas-bench"))

    def started(self, *words: str) -> subprocess.Popen[str]:
        """Start a command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", START, *words],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def results(self) -> list[Path]:
        """The folders of results, oldest first."""
        return sorted((self.folder / "results").iterdir(), key=lambda path: path.stat().st_ctime_ns)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for subtask in SUBTASKS:
        path = tmp_path / "data" / "benchmark_tasks" / f"bbeh_{subtask}" / "task.json"
        path.parent.mkdir(parents=True)
        path.write_text(task_file(examples(subtask)), encoding="utf-8")
    mini = [example for subtask in NICHES for example in examples(subtask)]
    (tmp_path / "data" / "mini.json").write_text(task_file(mini), encoding="utf-8")
    (tmp_path / "solo.yaml").write_text(SOLO)
    (tmp_path / "pair.yaml").write_text(PAIR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["mas-bench", "run", "bbeh-mini"])
    return Cli(folder=tmp_path, environment={"MAS_HOME": str(tmp_path)})
