"""Workspaces: what agents find in them, and how the host reads what agents leave there."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail, Shell
from coterie.runtime.jail.tiers import Tier
from coterie.runtime.repository.changes import RepositoryChange
from coterie.runtime.repository.git import git
from coterie.runtime.repository.repository import Repository
from coterie.runtime.repository.trees import LARGEST_PATCH
from coterie.runtime.repository.workspace import Workspace, Workspaces
from coterie.schema import AgentError, Task

from ...jails import TIERS, require
from ...strangers.repositories import COMMANDS
from ...support.repositories import as_config


@pytest.fixture
def repository(original: Path, tmp_path: Path) -> Path:
    """A repository with one commit, in which a file is ignored."""
    return Path(shutil.copytree(original, tmp_path / "repository"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    (folder / "code.py").write_text("one\n")
    (folder / ".gitignore").write_text("ignored\n")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "1")):
        git(folder, *words)
    return folder


@pytest.fixture
def home(repository: Path) -> Iterator[Workspaces]:
    with Workspaces(Task(id="task", query="?", repo=repository)) as result:
        yield result


@pytest.fixture
def workspace(home: Workspaces) -> Workspace:
    return home.of("agent", 1)


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that leaves a file when it runs: `canary.touched`."""
    path = tmp_path / "canary"
    path.write_text(f"#!/bin/sh\ntouch {path}.touched\ncat\n")
    path.chmod(0o755)
    return path


def applied(home: Workspaces, patch: str) -> Workspace:
    """The workspace of a colleague who starts from a patch."""
    return home.of("colleague", 1, (RepositoryChange(agent="agent", patch=patch),))


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_git_works_in_every_jail(workspace: Workspace, tier: Tier) -> None:
    require(tier)
    with Jail(workspace.path, tier=tier) as jail:
        shell = Shell(jail)
        done = shell.run(
            "set -e; top=$(git rev-parse --show-toplevel); echo two >> code.py;"
            ' git config --global core.pager cat; git -C "$top" commit -qam 2; git log --format=%s'
        )
    assert (done.returncode, done.output.splitlines()[0]) == (0, "2")
    assert "+two" in workspace.diff()


def test_other_users_pass_through_to_no_workspace(workspace: Workspace) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in workspace.path.parent.iterdir()}
    assert modes == {"agent-1": 0o700, "state": 0o700, "state.git": 0o700}
    assert workspace.path.parent.stat().st_mode & 0o777 == 0o711  # entered, and not listed


def test_the_files_of_a_task_lie_in_the_workspace_and_are_gone_after_the_run() -> None:
    with Workspaces(Task(id="task", query="?", files={"a/b.txt": "text\n"})) as home:
        path = home.of("agent", 1).path
        assert (path / "a" / "b.txt").read_text() == "text\n"
        assert not home.of("agent", 1).has_repository
    assert not path.parent.exists()


def test_uncommitted_changes_are_carried_over_and_are_no_changes_of_the_agents(
    repository: Path, home: Workspaces
) -> None:
    (repository / "code.py").write_text("two\n")
    (repository / "new.py").write_text("new\n")
    workspace = home.of("agent", 1)
    assert (workspace.path / "code.py").read_text() == "two\n"
    assert (workspace.path / "new.py").read_text() == "new\n"
    assert workspace.diff() == ""


def test_a_colleague_starts_from_the_patch(home: Workspaces, workspace: Workspace) -> None:
    (workspace.path / "code.py").write_text("two\n")
    (workspace.path / "new.py").write_text("new\n")
    (workspace.path / "ignored").write_text("x\n")
    patch = workspace.diff()
    colleague = applied(home, patch)
    assert (colleague.path / "code.py").read_text() == "two\n"
    assert not (colleague.path / "ignored").exists()
    assert colleague.diff() == patch


def test_a_patch_that_does_not_apply_is_the_agents_failure(home: Workspaces) -> None:
    with pytest.raises(AgentError, match="git apply"):
        _ = applied(home, "no patch\n").path


@pytest.mark.parametrize(
    "name", ["../outside", "/outside", ".git/hooks/post-checkout", ".GIT/config", "link/outside"]
)
def test_no_patch_writes_outside_the_copy(repository: Path, home: Workspaces, name: str) -> None:
    (repository / "link").symlink_to(repository.parent)
    with pytest.raises(AgentError, match="git apply"):
        _ = applied(home, f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+mine\n").path
    assert sorted(path.name for path in repository.parent.iterdir()) == ["repository"]


def test_other_encodings_are_carried_over_by_byte(home: Workspaces, workspace: Workspace) -> None:
    latin = "größer\n".encode("latin-1")
    (workspace.path / "code.py").write_bytes(latin)
    (workspace.path / ".gitattributes").write_text("*.py diff=python text\n")
    patch = workspace.diff()
    patch.encode("utf-8")
    assert (applied(home, patch).path / "code.py").read_bytes() == latin


def test_odd_names_are_carried_over(home: Workspaces, workspace: Workspace) -> None:
    names = [
        b"new\nline",
        b"\x1b[31m",
        b"\xff\xfe",
        b"-rf",
        b" ",
        b"tab\t",
        b'"quoted"',
        b"a" * 255,
    ]
    for name in names:
        Path(os.fsdecode(os.fsencode(workspace.path) + b"/" + name)).write_text("x\n")
    patch = workspace.diff()
    patch.encode("ascii")
    left = {os.fsencode(path.name) for path in applied(home, patch).path.iterdir()}
    assert left >= set(names)


def pipes(path: Path) -> None:
    for name in (".gitattributes", "folder/.gitignore", "pipe"):
        (path / name).parent.mkdir(exist_ok=True)
        os.mkfifo(path / name)


def a_pipe_for_a_file(path: Path) -> None:
    (path / ".gitignore").unlink()
    os.mkfifo(path / ".gitignore")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as local, tempfile.TemporaryDirectory() as short:
        local.bind(f"{short}/s")
        shutil.move(f"{short}/s", path / "socket")


def links_out(path: Path) -> None:
    (path / ".gitattributes").symlink_to("/etc/passwd")
    (path / "loop").symlink_to("loop")
    (path / "up").symlink_to("..")
    (path / "etc").symlink_to("/etc")


def no_git_folder(path: Path) -> None:
    shutil.rmtree(path / ".git")


def git_folder_elsewhere(path: Path) -> None:
    shutil.rmtree(path / ".git")
    (path / ".git").write_text("gitdir: /\n")


def a_deep_tree(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    for _ in range(2200):
        os.mkdir("i", dir_fd=handle)
        inner = os.open("i", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=handle))
    os.close(handle)


def sparse_files(path: Path) -> None:
    for number in range(2):
        with (path / f"sparse{number}").open("wb") as file:
            file.truncate(16 << 20)


def rights(path: Path) -> None:
    (path / "program").write_text("x\n")
    (path / "program").chmod(0o6777)
    (path / "closed").mkdir(mode=0o700)
    (path / "closed" / "file").write_text("x\n")


@pytest.mark.parametrize(
    "trick",
    [
        pipes,
        a_pipe_for_a_file,
        a_socket,
        links_out,
        no_git_folder,
        git_folder_elsewhere,
        a_deep_tree,
        sparse_files,
        rights,
    ],
    ids=lambda trick: trick.__name__,
)
def test_no_trick_hides_changes(workspace: Workspace, trick: Callable[[Path], None]) -> None:
    (workspace.path / "code.py").write_text("two\n")
    trick(workspace.path)
    patch = workspace.diff()
    assert "+two" in patch
    assert "root:" not in patch  # of /etc/passwd


def test_what_git_refuses_is_the_agents_failure(workspace: Workspace) -> None:
    (workspace.path / ".gitmodules").symlink_to("/etc/passwd")
    with pytest.raises(AgentError, match="invalid path"):
        workspace.diff()


def settings_of(path: Path, canary: Path) -> None:
    """Name a program wherever the settings of a repository can name one."""
    config = path / ".git" / "config"
    config.write_text(config.read_text() + as_config(dict.fromkeys(COMMANDS, str(canary))))
    hooks = path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("pre-commit", "post-index-change", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(canary, hooks / hook)


@pytest.mark.parametrize("where", [".", "inner", "inner/deep/er", "linked"])
def test_settings_in_the_copy_run_nothing(workspace: Workspace, canary: Path, where: str) -> None:
    path = workspace.path / where
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet"], cwd=path, check=True)
    (path / "code.py").write_text("two\n")
    settings_of(path, canary)
    if where == "linked":  # a repository whose git folder has another name
        (path / ".git").rename(workspace.path / "settings")
        (path / ".git").write_text("gitdir: ../settings\n")
    for folder in (path, workspace.path):
        (folder / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (workspace.path / ".gitmodules").write_text(
        f'[submodule "x"]\npath = {where}\nurl = ext::{canary}\nupdate = !{canary}\n'
    )
    assert "+two" in workspace.diff()
    assert not canary.with_name("canary.touched").exists()


def test_a_patch_that_nobody_can_use_is_a_failure_and_does_not_fill_memory(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LARGEST_PATCH == 16 << 20
    monkeypatch.setattr("coterie.runtime.repository.trees.LARGEST_PATCH", 1 << 20)
    (workspace.path / "noise").write_bytes(os.urandom(1 << 20))
    with pytest.raises(AgentError, match=r"gives \d+ bytes, more than the 1048576 allowed"):
        workspace.diff()


def test_many_files_are_no_problem(workspace: Workspace, nightly: bool) -> None:
    count = 100_000 if nightly else 500
    for number in range(count):
        (workspace.path / f"file{number}").touch()
    assert workspace.diff().count("new file mode") == count


def test_what_killed_runs_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "coterie-run.abcdefgh"
    (left / "agent-1").mkdir(parents=True)
    with Workspaces(Task(id="task", query="?")) as home:
        assert left.exists()
        assert home.of("agent", 1).path.parent.parent == tmp_path
        assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_copy_of_a_commit_knows_no_other(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "--quiet")
    commits: list[str] = []
    for text in ("before", "base", "repaired"):
        (source / "code.txt").write_text(text, encoding="utf-8")
        git(source, "add", "--all")
        git(source, "commit", "--quiet", "--message", text)
        commits.append(git(source, "rev-parse", "HEAD").strip())
    git(tmp_path, "clone", "--quiet", "--mirror", str(source), "mirror")
    for repository in (source, tmp_path / "mirror"):
        copy = tmp_path / f"copy of {repository.name}"
        copy.mkdir()
        with Repository.open(repository) as opened:
            opened.check_out(commits[1], copy)
        assert (copy / "code.txt").read_text(encoding="utf-8") == "base"
        assert git(copy, "rev-parse", "HEAD").strip() == commits[1]
        known = git(copy, "cat-file", "--batch-all-objects", "--batch-check")
        assert commits[1] in known
        assert commits[0] not in known
        assert commits[2] not in known
        assert str(repository) not in (copy / ".git" / "config").read_text(encoding="utf-8")


def test_a_commit_that_is_not_there(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with (
        Repository.open(repository) as opened,
        pytest.raises(AgentError, match="has no commit '1111"),
    ):
        opened.check_out("1" * 40, tmp_path / "copy")


def test_an_agent_that_works_on_a_commit_sees_no_other(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD").strip()
    (repository / "code.py").write_text("repaired\n")
    git(repository, "commit", "--quiet", "--all", "--message", "2")
    later = git(repository, "rev-parse", "HEAD").strip()
    with Workspaces(Task(id="task", query="?", repo=repository, commit=base)) as result:
        workspace = result.of("agent", 1)
        assert (workspace.path / "code.py").read_text() == "one\n"
        known = git(workspace.path, "cat-file", "--batch-all-objects", "--batch-check")
        assert later not in known
        (workspace.path / "code.py").write_text("two\n")
        assert "-one\n+two\n" in workspace.diff()
