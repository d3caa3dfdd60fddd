"""`mas dev runs`: what folders of runs there are, and what becomes of them."""

import fcntl
import json
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.runs import main
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import ScriptedModel

from ...support.commands import CommandResult, invoked, invoked_in

TEAM = 'name: solo\nagents:\n  one: {role: worker, prompt: "Solve it."}\n'
OLD = "2020-01-02T03:04:05+00:00"


@pytest.fixture
def folder(three_runs: Path, tmp_path: Path) -> Path:
    """A folder with three runs: a done one, an old one, and one that was interrupted."""
    shutil.copytree(three_runs, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("runs"))


def written(tmp_path: Path) -> Path:
    """Write the runs into a folder, which they name."""
    (tmp_path / "team.yaml").write_text(TEAM)
    for name in ("new", "old", "cut"):
        task = {
            "id": name,
            "query": "Add.",
            "answer": "7",
            "context": f"See {tmp_path}/secret.txt.",
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(task))
        with ScriptedModel({"": f"The file is {Path.home()}/x."}) as model:
            words = ["team.yaml", f"{name}.json", "--model", f"m@{model.api_base}"]
            invoked_in(tmp_path, mas_run, words, "mas-run")
    manifest = run_of(tmp_path, "old") / "run.json"
    value = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**value, "started": OLD}))
    (run_of(tmp_path, "cut") / "result.json").unlink()
    return tmp_path


def run_of(folder: Path, task: str) -> Path:
    return next(folder.glob(f"runs/*-{task}"))


def tasks(folder: Path) -> set[str]:
    return {path.name.rpartition("-")[2] for path in folder.glob("runs/[!.]*")}


def runs(folder: Path, *words: str) -> CommandResult:
    return invoked_in(folder, main, list(words), "mas dev runs")


def test_runs_are_listed_the_oldest_first_with_their_sizes(folder: Path) -> None:
    lines = runs(folder, "list").out.splitlines()
    first, *others = (line.split()[-1].rpartition("-")[2] for line in lines[1:-1])
    assert (first, {*others}) == ("old", {"new", "cut"})
    assert "2020-01-02 03:04  solo  done         0.000  1" in lines[1]
    assert sum("interrupted" in line for line in lines) == 1
    assert lines[-1].startswith("3 runs, ")
    (old,) = json.loads(runs(folder, "list", "--older-than", "52w", "--json").out)
    run = run_of(folder, "old")
    assert old["size"] == sum(path.stat().st_size for path in run.iterdir())
    assert (old["status"], old["folder"]) == ("done", f"runs/{run.name}")


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--older-than", "30d"], {"new", "cut"}),
        (["--status", "done"], {"cut"}),
        (["--status", "interrupted"], {"new", "old"}),
        (["--keep", "1"], {"new", "cut"}),
        (["--status", "done", "--keep", "2"], {"new", "old", "cut"}),
    ],
)
def test_what_is_asked_for_is_deleted(folder: Path, words: list[str], left: set[str]) -> None:
    assert runs(folder, "prune", *words).code == 0
    assert tasks(folder) == {"new", "old", "cut"}
    assert runs(folder, "prune", *words, "--delete").code == 0
    assert tasks(folder) == left


def test_a_run_that_is_under_way_stays(folder: Path) -> None:
    handle = os.open(run_of(folder, "old"), os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        runs(folder, "prune", "--status", "done", "--delete")
        assert "under way" in runs(folder, "list").out
    finally:
        os.close(handle)
    assert tasks(folder) == {"old", "cut"}


def test_an_archive_has_all_of_a_run(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in run_of(folder, "old").iterdir()}
    result = runs(folder, "archive", "--older-than", "1d", "--to", "a.tar.gz", "--delete")
    assert (result.code, tasks(folder)) == (0, {"new", "cut"})
    with tarfile.open(folder / "a.tar.gz") as packed:
        packed.extractall(folder / "runs", filter="data")
    assert {path.name: path.read_bytes() for path in run_of(folder, "old").iterdir()} == before
    assert runs(folder, "archive", "--to", "a.tar.gz").code == 2


def test_a_shared_run_is_read_and_says_nothing_of_the_machine(tmp_path: Path) -> None:
    folder = written(tmp_path)
    result = runs(folder, "share", str(run_of(folder, "new")), "--to", "s.zip").ended(0)
    assert "left out: journal.log" in result.out
    with zipfile.ZipFile(folder / "s.zip") as packed:
        packed.extractall(folder / "read")  # noqa: S202 - ours
    (run,) = (folder / "read").iterdir()
    text = "".join(path.read_text() for path in run.iterdir())
    for name in (str(folder), str(Path.home()), "127.0.0.1", "task_file"):
        assert name not in text
    assert "The file is HOME/x." in invoked(mas_view, ["--text", str(run)], "mas-view").out
    assert runs(folder, "share", str(run_of(folder, "new")), "--to", "s.zip").code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list", "nowhere"], "nowhere: no such folder"),
        (["list", "--older-than", "3y"], "invalid age '3y'. Write 90m, 12h, 30d or 4w"),
        (["prune"], "choose runs by"),
        (["share", "runs", "--to", "x.zip"], "runs is not the folder of a run"),
        (["archive", "--status", "none", "--to", "x.tar.gz"], "no run to pack"),
    ],
)
def test_wrong_input_is_told(folder: Path, words: list[str], message: str) -> None:
    result = runs(folder, *words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
