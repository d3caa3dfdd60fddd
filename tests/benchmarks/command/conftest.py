"""`mas-bench` in a folder with the files of a small invented benchmark, and a model that adds."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from coterie.benchmarks.bbeh.examples import SUBTASKS
from coterie.benchmarks.command import main
from coterie.runtime.doubles import Replies, Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult, invoked
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

    def bench(self, *words: str, replies: Replies | None = None) -> CommandResult:
        """Run a command in this process; with replies, the default model gives them."""
        if replies is None:
            return invoked(main, words, "mas-bench")
        with ScriptedModel(replies) as model:
            result = invoked(main, [*words, "--model", f"m@{model.api_base}"], "mas-bench")
            result.calls = len(model.calls)
            return result

    def run(self, *words: str, team: str = "solo", replies: Replies | None = adds) -> CommandResult:
        """Run a team on the mini set, once per task."""
        options = ["--team", f"{team}.yaml", "--data", "data", "--trials", "1", "--quiet"]
        return self.bench("run", "bbeh-mini", *options, *words, replies=replies)

    def evaluated(self, *words: str, team: str = "solo", replies: Replies | None = adds) -> Path:
        """Run a team on the mini set; return the folder of its results, so far the only one."""
        self.run(*words, team=team, replies=replies).ended(0)
        (folder,) = self.results
        return folder

    def resumed(self, folder: Path, *words: str, replies: Replies = adds) -> CommandResult:
        """Resume an evaluation."""
        return self.bench("resume", str(folder), "--quiet", *words, replies=replies)

    def begun(self, *words: str) -> Child:
        """Begin a command in a child of this process, which writes what it shows to a file."""

        def work() -> None:
            result = invoked(main, words, "mas-bench")
            (self.folder / "shown.txt").write_text(result.shown)
            sys.exit(result.code)

        return Child(work)

    @property
    def results(self) -> list[Path]:
        """The folders of results, oldest first."""
        return sorted((self.folder / "results").iterdir(), key=lambda path: path.stat().st_ctime_ns)


@pytest.fixture(scope="session")
def full_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the full set, for tests that only read it."""
    folder = tmp_path_factory.mktemp("bbeh") / "benchmark_tasks"
    for subtask in SUBTASKS:
        path = folder / f"bbeh_{subtask}" / "task.json"
        path.parent.mkdir(parents=True)
        path.write_text(task_file(examples(subtask)), encoding="utf-8")
    return folder


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_set: Path) -> Cli:
    return cli_in(tmp_path, monkeypatch, full_set)


def cli_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_set: Path) -> Cli:
    """Write the files into a folder, and go there."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "benchmark_tasks").symlink_to(full_set)
    mini = [example for subtask in NICHES for example in examples(subtask)]
    (tmp_path / "data" / "mini.json").write_text(task_file(mini), encoding="utf-8")
    (tmp_path / "solo.yaml").write_text(SOLO)
    (tmp_path / "pair.yaml").write_text(PAIR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["mas-bench", "run", "bbeh-mini"])
    return Cli(folder=tmp_path)
