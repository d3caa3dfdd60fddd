"""Workspaces: the folder in which an agent of a run finds the task's files or repository."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..schema.errors import AgentError, JailError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..schema.task import Task

__all__ = ["Workspace", "Workspaces", "git"]

GIT_SECONDS = 120
QUIET_GIT = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "user.name=coterie",
    "-c", "user.email=coterie@localhost",
    "-c", "commit.gpgsign=false",
    "-c", "safe.directory=*",
)  # fmt: skip


class Workspaces:
    """The workspaces of one run. A context manager; leaving it removes them.

    Args:
        task: The task, without its reference answer.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._folder: Path | None = None
        self._making = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            from .jail.workspace import remove

            with contextlib.suppress(JailError):  # what cannot be removed is left to the system
                remove(self._folder)

    def of(self, agent_id: str, attempt: int, patches: Sequence[str]) -> Workspace:
        """Give an agent its workspace for one attempt. Nothing is made until it is used.

        Where the agent's reports hold exactly one patch of the repository, it starts from it: so a
        tester works on what the programmer left. Several are alternatives to choose from.
        """
        patch = patches[0] if len(patches) == 1 else None
        return Workspace(home=self, name=f"{agent_id}-{attempt}", patch=patch)

    def folder(self) -> Path:
        """Give the folder of all workspaces, made on first use. Agents may ask from threads."""
        with self._making:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="coterie-"))
            return self._folder


@dataclass(kw_only=True, slots=True, eq=False)
class Workspace:
    """One agent's folder: a copy of the task's repository, or the task's files.

    Attributes:
        home: The workspaces of the run.
        name: The folder's name.
        patch: What is applied to the repository before the agent starts.
    """

    home: Workspaces
    name: str
    patch: str | None = None
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
            _copy_repository(self.home.task.repo, path, self.patch)
        return path

    @property
    def has_repository(self) -> bool:
        """Whether the folder is a copy of the task's repository."""
        return self.home.task.repo is not None

    def diff(self) -> str:
        """Give all changes of the repository since the task's own state, as a git diff.

        New files are in it, ignored ones are not.

        Raises:
            AgentError: git cannot tell.
        """
        # The agent may have written into the copy's own .git, whose settings can name programs to
        # run. So the comparison uses a git directory that the agent never saw, and no other.
        _remove_inner_repositories(self.path)
        own = (f"--git-dir={_kept(self.path)}", f"--work-tree={self.path}")
        git(self.path, *own, "add", "--all")
        shown = ("--cached", "--binary", "--no-color", "--no-ext-diff", "--no-textconv")
        return git(self.path, *own, "diff", *shown, "--ignore-submodules=all", "HEAD")


def git(folder: Path, *arguments: str, text: str | None = None) -> str:
    """Run git in a folder, without hooks, pagers or the user's own settings.

    Raises:
        AgentError: git failed; the message has its words.
    """
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        done = subprocess.run(
            ["git", *QUIET_GIT, *arguments],  # noqa: S607 - whichever git the host has
            cwd=folder, env=environment, input=text, capture_output=True, encoding="utf-8",
            errors="surrogateescape", timeout=GIT_SECONDS, check=True,
        )  # fmt: skip
    except FileNotFoundError:
        raise AgentError("git is not installed.") from None
    except subprocess.TimeoutExpired:
        raise AgentError(f"git {arguments[0]} took more than {GIT_SECONDS} seconds.") from None
    except subprocess.CalledProcessError as error:
        raise AgentError(f"git {arguments[0]}: {error.stderr.strip()[-500:]}") from None
    return done.stdout


def _kept(path: Path) -> Path:
    """Where the git directory of a copy's first state is kept, beside the copy."""
    return path.with_name(f"{path.name}.git")


def _remove_inner_repositories(path: Path) -> None:
    """Make plain folders of the repositories inside a working copy.

    git looks into a submodule by that repository's own settings, and so would run what they name.
    """
    # `find` for its depth: a tree can be deeper than Python's own walk bears.
    found = ("find", str(path), "-mindepth", "2", "-name", ".git", "-prune")
    subprocess.run([*found, "-exec", "rm", "-rf", "{}", "+"], capture_output=True, check=False)


def _write_files(path: Path, files: Mapping[str, str]) -> None:
    path.mkdir(parents=True)
    for name, text in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")


def _copy_repository(repo: Path, path: Path, patch: str | None) -> None:
    """Copy a working copy as it stands, uncommitted changes included, and mark that state."""
    git(
        repo.parent, "clone", "--quiet", "--no-hardlinks", "--local", str(repo.resolve()), str(path)
    )
    _overlay(repo, path)
    git(path, "remote", "remove", "origin")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "--message", "The task's state.")
    shutil.copytree(path / ".git", _kept(path))
    if patch:
        git(path, "apply", "--whitespace=nowarn", "-", text=patch)


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
