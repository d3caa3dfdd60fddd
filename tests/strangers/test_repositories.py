"""`mas-run` and `mas-evolve --git` on repositories that strangers made: nothing of them runs."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from coterie.operators.command.commits import check_repository, commit
from coterie.runtime.command.run import main
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.repository.repository import Repository
from coterie.runtime.repository.workspace import Workspaces
from coterie.schema import AgentError, Task

from ..support.commands import CommandResult, invoked_in
from ..support.shares import every
from . import repositories
from .repositories import Linked, git

TEAM = """\
name: reader
agents:
  reader: {role: reader, prompt: Look., agent_type: ToolCallingAgent, tools: [list_files]}
"""
SECRET = "what nobody outside may read or change\n"
ARMED = [(place, where) for place in repositories.PLACES for where in repositories.WHERE]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that leaves a file when it runs: `ran`, beside it."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\ncat\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder outside of every root; its file stays as it is, to the byte."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    yield folder
    assert (folder / "secret").read_text() == SECRET
    assert {path.name for path in folder.iterdir()} <= {"secret", "taken"}


def armed(tmp_path: Path, place: str, where: str, program: Path) -> Path:
    folder = repositories.armed(tmp_path / "theirs", place, where, str(program))
    (tmp_path / "ran").unlink(missing_ok=True)
    return folder


def run(folder: Path, repository: Path) -> CommandResult:
    """Have a team look into a repository, by the real command and with a scripted model."""
    task = {"id": "look", "query": "What is there?", "repo": str(repository)}
    (folder / "team.yaml").write_text(TEAM)
    (folder / "task.json").write_text(json.dumps(task))
    replies = [Reply.tool("list_files"), Reply.tool("final_answer", answer="seen")]
    with ScriptedModel(replies) as model:
        words = ["team.yaml", "task.json", "--model", f"scripted@{model.api_base}"]
        return invoked_in(folder, main, words, "mas-run")


@pytest.mark.parametrize(("place", "where"), every(3, ARMED))
def test_no_program_that_a_repository_names_runs(
    place: str, where: str, tmp_path: Path, program: Path
) -> None:
    folder = armed(tmp_path, place, where, program)
    with Workspaces(Task(id="task", query="?", repo=folder)) as home:
        workspace = home.of("agent", 1)
        assert (workspace.path / "src/code.py").read_text() == "four\n"
        (workspace.path / "src/code.py").write_text("five\n")
        assert "+five" in workspace.diff()
    check_repository(folder / "pool")
    (folder / "pool").mkdir()
    (folder / "pool/ledger.jsonl").write_text("{}\n")
    commit(folder / "pool", "first")
    assert not (tmp_path / "ran").exists()


def test_the_same_programs_run_where_git_itself_looks(tmp_path: Path, program: Path) -> None:
    folder = armed(tmp_path, "config", ".gitattributes", program)
    subprocess.run(["git", "diff", "HEAD"], cwd=folder, check=False, capture_output=True)
    assert (tmp_path / "ran").exists()


def test_the_command_runs_none_either(tmp_path: Path, program: Path) -> None:
    folder = armed(tmp_path, "config", ".gitattributes", program)
    assert run(tmp_path, folder).ended(0).out == "seen\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "linked",
    [*every(4, repositories.links()), *repositories.elsewhere()],
    ids=lambda linked: linked.name,
)
def test_no_link_leads_out_of_a_repository(linked: Linked, tmp_path: Path, outside: Path) -> None:
    folder, ours = repositories.honest(tmp_path / "theirs"), tmp_path / "ours"
    linked.make(folder, outside)
    ours.mkdir()
    with suppress(AgentError), Repository.open(folder) as repository:
        copied = [path.read_bytes() for path in repository.folder.rglob("*") if path.is_file()]
        assert not any(SECRET.encode() in content for content in copied)
        repository.copy(ours / "copy")
    files = [path for path in ours.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any(SECRET in path.read_text("latin-1") for path in files)


def test_a_part_that_lies_elsewhere_is_one_line(tmp_path: Path, outside: Path) -> None:
    folder = repositories.honest(tmp_path / "theirs")
    (folder / ".git/objects/info/alternates").write_text(f"{outside}\n")
    result = run(tmp_path, folder).ended(2)
    assert "its objects are in another repository" in result.err
    assert "Traceback" not in result.err


def test_an_agent_sees_one_commit_and_no_other_object(tmp_path: Path) -> None:
    folder = repositories.honest(tmp_path / "theirs")
    git(folder, "switch", "--quiet", "--create", "repaired")
    (folder / "fix.py").write_text("the fix of another branch\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "repaired")
    git(folder, "tag", "solved")
    git(folder, "switch", "--quiet", "main")
    (folder / "away.txt").write_text("amended away\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--amend", "--message", "with an answer")
    git(folder, "rm", "--quiet", "away.txt")
    git(folder, "commit", "--quiet", "--amend", "--message", "without")
    with Workspaces(Task(id="task", query="?", repo=folder)) as home:
        path = home.of("agent", 1).path
        form = "--batch-check=%(objecttype) %(objectname)"
        listed = git(path, "cat-file", "--batch-all-objects", form)
        blobs = [line.split()[1] for line in listed.splitlines() if line.startswith("blob")]
        assert {git(path, "cat-file", "blob", blob) for blob in blobs} == {"two\n"}
        assert listed.count("commit ") == 2
        assert git(path, "branch", "--all", "--format=%(refname)").split() == ["refs/heads/main"]
        assert git(path, "tag") == ""
        assert str(folder) not in (path / ".git/config").read_text()


def test_the_commits_before_come_where_the_task_says_so(tmp_path: Path) -> None:
    folder = repositories.honest(tmp_path / "theirs")
    with Workspaces(Task(id="task", query="?", repo=folder, history=True)) as home:
        path = home.of("agent", 1).path
        assert git(path, "log", "--format=%s").split() == ["The", "task's", "state.", "two", "one"]


PLACES = ("", "tests/", "a/b/c/", "ü ber/", ".hidden/", "runs of mine/", "-x/")
NAMES = ("again.json", "task.yaml", ".task", "TASK.JSON", "new\nline.json", "-q", "x.jsonl")


@pytest.mark.parametrize("kept", ["untracked", "committed", "staged"])
@pytest.mark.parametrize("alike", ["copy", "hard link"])
@pytest.mark.parametrize("at_commit", [False, True])
def test_no_copy_holds_the_answer(kept: str, alike: str, at_commit: bool, tmp_path: Path) -> None:
    folder = repositories.honest(tmp_path / "theirs")
    answer = "the reference answer"
    task = folder / "tasks/task.json"
    task.parent.mkdir()
    task.write_text(json.dumps({"id": "t", "query": "?", "repo": "..", "answer": answer}))
    for place in PLACES:
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            other = folder / place / name
            if alike == "copy":
                shutil.copy(task, other)
            else:
                other.hardlink_to(task)
        ended = folder / f"{place}runs/before"
        ended.mkdir(parents=True)
        for name in ("task.json", "run.json", "journal.log"):
            (ended / name).write_text(f"{answer} {place}")
    if kept != "untracked":
        git(folder, "add", "--all")
    if kept == "committed":
        git(folder, "commit", "--quiet", "--message", "with the task")
    head = git(folder, "rev-parse", "HEAD").strip() if at_commit else ""
    given = Task(id="t", query="?", repo=folder, commit=head, answer=answer, origin=task)
    with Workspaces(given) as home:
        path = home.of("agent", 1).path
        assert (path / "read.me").read_text() == "two\n"
        assert answer not in git(path, "log", "--all", "--patch", "--format=")
        files = [item for item in path.rglob("*") if item.is_file()]
        assert not any(answer in file.read_text("latin-1") for file in files)
