"""Workspaces: the folder in which an agent of a run finds the task's files or repository."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from ..schema.errors import AgentError, JailError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..schema.task import Task
    from .jail.scratch import ScratchFolder

__all__ = ["Workspace", "Workspaces", "copy_commit", "git"]

GIT_SECONDS = 120
LARGEST_PATCH = 16 << 20
"""Bytes."""
QUIET_GIT = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "user.name=coterie",
    "-c", "user.email=coterie@localhost",
    "-c", "commit.gpgsign=false",
    "-c", "safe.directory=*",
)  # fmt: skip

SERVED = "--upload-pack=git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true upload-pack"


class Workspaces:
    """The workspaces of one run. A context manager; leaving it removes them.

    Args:
        task: The task, without its reference answer.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._scratch: ScratchFolder | None = None
        self._making = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            with contextlib.suppress(JailError):  # what cannot be removed is left to later runs
                self._scratch.close()

    def of(
        self, agent_id: str, attempt: int, patches: Sequence[str], *, own: str | None = None
    ) -> Workspace:
        """Give an agent its workspace for one attempt. Nothing is made until it is used.

        Where the agent's reports hold exactly one patch of the repository, it starts from it: so a
        tester works on what the programmer left. Several are alternatives to choose from. With none
        or several it starts from its own patch of the round before, if there was one: so a
        programmer goes on with what it has. Patches in letters are answers, and decide nothing.

        Args:
            agent_id: The agent.
            attempt: Which attempt it is, from 1.
            patches: Those of the reports that it reads, without empty ones.
            own: What it made of the repository in the round before.
        """
        patch = patches[0] if len(patches) == 1 else own
        return Workspace(home=self, name=f"{agent_id}-{attempt}", patch=patch)

    def folder(self) -> Path:
        """Give the folder of all workspaces, made on first use. Agents may ask from threads.

        The first use also removes what earlier runs left whose process was killed.

        Raises:
            JailError: No temporary folder can be made.
        """
        from .jail.scratch import ScratchFolder, sweep

        with self._making:
            if self._scratch is None:
                sweep()
                self._scratch = ScratchFolder("run", passable=True)
            return self._scratch.path


@dataclass(kw_only=True, slots=True, eq=False)
class Workspace:
    """One agent's folder: a copy of the task's repository, or the task's files.

    Attributes:
        home: The workspaces of the run.
        name: The folder's name.
        patch: What is applied to the repository before the agent starts.
        kept: What tools that keep state have there, each under a name of its own.
    """

    home: Workspaces
    name: str
    patch: str | None = None
    kept: dict[str, Any] = field(default_factory=dict[str, Any])
    _path: Path | None = None
    _making: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> Path:
        """The folder.

        Raises:
            AgentError: The repository cannot be copied, or the patch does not apply.
        """
        with self._making:
            if self._path is None:
                self._path = self._made()
            return self._path

    def _made(self) -> Path:
        path = self.home.folder() / self.name
        if self.home.task.repo is None:
            _write_files(path, self.home.task.files)
        else:
            _copy_repository(self.home.task, path, self.patch)
            _kept(path).chmod(0o700)
        path.chmod(0o700)  # other users may know its name
        return path

    @property
    def has_repository(self) -> bool:
        """Whether the folder is a copy of the task's repository."""
        return self.home.task.repo is not None

    def diff(self) -> str:
        """Give all changes of the repository since the task's own state, as a git diff.

        New files are in it, ignored ones are not.

        Raises:
            AgentError: git cannot tell, or the changes are larger than anyone can use.
        """
        from .jail.workspace import make_plain

        try:
            make_plain(self.path)
        except JailError as error:
            raise AgentError(f"The changes can't be read: {error}") from None
        # The agent may have written into the copy's own .git, whose settings can name programs to
        # run. So the comparison uses a git directory that the agent never saw, and no other.
        kept = _kept(self.path)
        own = (f"--git-dir={kept}", f"--work-tree={self.path}")
        git(self.path, *own, "add", "--all")
        shown = ("--cached", "--binary", "--no-color", "--no-ext-diff", "--no-textconv")
        told = (*own, "diff", *shown, "--ignore-submodules=all", "HEAD")
        patch = git(self.path, *told, limit=LARGEST_PATCH)
        if _is_text(patch):
            return patch
        # Text in another encoding would be lost on its way to other agents and into the record.
        (kept / "info").mkdir(exist_ok=True)
        (kept / "info" / "attributes").write_text("* -diff\n", encoding="ascii")
        return git(self.path, *told, limit=LARGEST_PATCH)


def git(folder: Path, *arguments: str, text: str | None = None, limit: int | None = None) -> str:
    """Run git in a folder, without hooks, pagers or the user's own settings.

    Args:
        folder: Where.
        arguments: A command of git's, and what it is given.
        text: What it reads.
        limit: Bytes that it may give.

    Raises:
        AgentError: git failed, and the message has its words, or it gave too much.
    """
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
    }
    command = next(word for word in arguments if not word.startswith("-"))
    with tempfile.TemporaryFile() as said:
        try:
            subprocess.run(
                ["git", *QUIET_GIT, *arguments],  # noqa: S607 - whichever git the host has
                cwd=folder, env=environment, input=(text or "").encode("utf-8", "surrogateescape"),
                stdout=said, stderr=subprocess.PIPE, timeout=GIT_SECONDS, check=True,
            )  # fmt: skip
        except FileNotFoundError:
            raise AgentError("git is not installed.") from None
        except subprocess.TimeoutExpired:
            raise AgentError(f"git {command} took more than {GIT_SECONDS} seconds.") from None
        except subprocess.CalledProcessError as error:
            words = error.stderr.decode("utf-8", "replace").strip()[-500:]
            raise AgentError(f"git {command}: {words}") from None
        size = said.seek(0, os.SEEK_END)
        if limit is not None and size > limit:
            raise AgentError(f"git {command} gives {size} bytes, more than the {limit} allowed.")
        said.seek(0)
        return said.read().decode("utf-8", "surrogateescape")


def _is_text(patch: str) -> bool:
    """Tell whether a patch is UTF-8, as git gave it."""
    try:
        patch.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kept(path: Path) -> Path:
    """Where the git directory of a copy's first state is kept, beside the copy."""
    return path.with_name(f"{path.name}.git")


def _write_files(path: Path, files: Mapping[str, str]) -> None:
    path.mkdir(parents=True)
    for name, text in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")


def copy_commit(repository: Path, commit: str, folder: Path) -> None:
    """Make an empty folder a working copy of one commit that knows nothing before or after it.

    Where a fault is to be repaired, the commit that repairs it may be in the repository as well,
    and nobody is to find it.

    Raises:
        AgentError: The repository does not have the commit.
    """
    source = repository.resolve().as_uri()
    git(folder, "init", "--quiet")
    git(folder, "fetch", "--quiet", "--depth=1", "--no-tags", SERVED, source, commit)
    git(folder, "checkout", "--quiet", "--detach", commit)
    (folder / ".git" / "FETCH_HEAD").unlink()


def _copy_repository(task: Task, path: Path, patch: str | None) -> None:
    """Copy a commit, or a working copy with its uncommitted changes, and mark that state."""
    repo = cast("Path", task.repo)
    if task.commit:
        path.mkdir()
        copy_commit(repo, task.commit, path)
    else:
        _copy_as_it_stands(repo, path)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "--message", "The task's state.")
    shutil.copytree(path / ".git", _kept(path))
    if patch:
        git(path, "apply", "--whitespace=nowarn", "-", text=patch)


def _copy_as_it_stands(repo: Path, path: Path) -> None:
    source = str(repo.resolve())
    git(repo.parent, "clone", "--quiet", "--no-hardlinks", "--local", source, str(path))
    _overlay(repo, path)
    git(path, "remote", "remove", "origin")


def _overlay(repo: Path, path: Path) -> None:
    """Carry over what the working copy has changed and not committed."""
    changed = git(repo, "diff", "HEAD", "--binary", "--no-color", "--no-ext-diff")
    if changed:
        git(path, "apply", "--whitespace=nowarn", "-", text=changed)
    for name in git(repo, "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
        if name:
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repo / name, target, follow_symlinks=False)
