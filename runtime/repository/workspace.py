"""Workspaces: the folder in which an agent of a run finds the task's files or repository."""

from __future__ import annotations

import contextlib
import shutil
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from ...schema.values import beneath
from ...schema.values.errors import AgentError, JailError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...schema.team.task import Task
    from ..jail import AnyJail
    from ..jail.scratch import ScratchFolder
    from .changes import RepositoryChange
    from .trees import Trees

STATE = "state"
"""A name that no agent's folder has: theirs end with a number."""


class Workspaces:
    """The workspaces of one run. A context manager; leaving it removes them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._scratch: ScratchFolder | None = None
        self._making = threading.Lock()
        self._trees: Trees | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            with contextlib.suppress(JailError):  # what cannot be removed is left to later runs
                self._scratch.close()

    def of(self, agent_id: str, attempt: int, start: Sequence[RepositoryChange] = ()) -> Workspace:
        """Return an agent's workspace for one attempt. Nothing is created before its first use."""
        return Workspace(home=self, name=f"{agent_id}-{attempt}", start=tuple(start))

    def trees(self) -> Trees:
        """Return the states of the task's repository; its own state is recorded on first use."""
        from .trees import Trees

        folder = self.folder()
        with self._making:
            if self._trees is None:
                state = folder / STATE
                if state.exists():  # what an attempt before left, which failed
                    shutil.rmtree(state)
                _copy_repository(self.task, state)
                state.chmod(0o700)
                hidden = folder / f"{STATE}.git"
                self._trees = Trees.of(state, hidden)
                hidden.chmod(0o700)
            return self._trees

    def folder(self) -> Path:
        """Return the folder of all workspaces, created on first use. Threads may call this.

        The first use also removes what earlier runs left whose process was killed.
        """
        from ..jail.scratch import ScratchFolder, sweep

        with self._making:
            if self._scratch is None:
                sweep()
                self._scratch = ScratchFolder("run", passable=True)
            return self._scratch.path


@dataclass(kw_only=True, slots=True, eq=False)
class Workspace:
    """One agent's folder: a copy of the task's repository, or the task's files.

    Attributes:
        start: The changes of the repository that the agent starts from.
        tool_state: State that tools keep in it, each under its own name.
        jail: The jail whose work folder it is, open or closed; None: none yet.
    """

    home: Workspaces
    name: str
    start: tuple[RepositoryChange, ...] = ()
    tool_state: dict[str, Any] = field(default_factory=dict[str, Any])
    jail: AnyJail | None = None
    _path: Path | None = None
    _making: threading.Lock = field(default_factory=threading.Lock)

    @property
    def agent(self) -> str:
        """The agent that owns it."""
        return self.name.rpartition("-")[0]

    @property
    def path(self) -> Path:
        """The folder."""
        with self._making:
            if self._path is None:
                self._path = self._make_folder()
            return self._path

    def as_it_is(self) -> Path:
        """Return the folder with the current files of the agent's code.

        Raises:
            AgentError: See `path`.
            JailError: It is on another machine, and cannot be fetched.
        """
        from ..jail import JailKilled, JailLost

        if self.jail is not None:
            try:
                self.jail.refresh()
            except JailLost:
                raise
            except JailKilled:  # it is closed, and has brought all that there is
                pass
        return self.path

    def discard(self) -> None:
        """Remove the folder, so that the agent begins again."""
        from ..jail.workspace import remove

        with self._making:
            path, self._path, self.jail = self._path, None, None
        self.tool_state.clear()
        if path is not None:
            remove(path)

    def _make_folder(self) -> Path:
        path = self.home.folder() / self.name
        if self.has_repository:
            self._copy_state(path)
        else:
            _write_files(path, self.home.task)
        path.chmod(0o700)  # other users may know its name
        return path

    def _copy_state(self, path: Path) -> None:
        from .git import git

        trees = self.home.trees()
        beneath.copy_tree(self.home.folder() / STATE, path)
        trees.check_out(trees.merged(self.start).tree, path)
        git(path, "update-index", "-q", "--refresh", accepted=(0, 1))

    @property
    def has_repository(self) -> bool:
        """Whether the folder is a copy of the task's repository."""
        return self.home.task.repo is not None

    @property
    def is_made(self) -> bool:
        """Whether the folder exists because it was used."""
        return self._path is not None

    @property
    def is_used(self) -> bool:
        """Whether the agent has looked into its copy of the repository."""
        return self.has_repository and self.is_made

    @property
    def conflicts(self) -> Sequence[str]:
        """The conflicts between the changes that the agent starts from."""
        return self.home.trees().merged(self.start).conflicts if len(self.start) > 1 else ()

    def diff(self) -> str:
        """Return all changes of the repository since the task's own state, as a git diff.

        It includes new files, but not ignored ones.

        Raises:
            AgentError: git fails, or the changes are too large to be useful.
        """
        trees, tree = self.home.trees(), self._recorded()
        patch = trees.patch(tree)
        if patch and trees.applied(patch) != tree:
            raise AgentError("The changes can't be written as a patch: git makes others of it.")
        return patch

    def changed(self) -> Sequence[str]:
        """Return the files of the repository that differ from what the agent started from."""
        trees = self.home.trees()
        return trees.differing(trees.merged(self.start).tree, self._recorded())

    def _recorded(self) -> str:
        """Return the tree of the folder's current files."""
        from ..jail.workspace import make_plain

        try:
            make_plain(self.path)
        except JailError as error:
            raise AgentError(f"The changes can't be read: {error}") from None
        # The agent may have written into the copy's own .git, whose settings can name programs to
        # run. So the comparison uses a git directory that the agent never saw, and no other.
        return self.home.trees().recorded(self.path)


def files_of(task: Task) -> Mapping[str, bytes]:
    """Return the content of a task's files, by name."""
    texts = {name: text.encode() for name, text in task.files.items()}
    return {**texts, **{name: attachment.content for name, attachment in task.attachments.items()}}


def _write_files(path: Path, task: Task) -> None:
    path.mkdir(parents=True)
    for name, content in files_of(task).items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _copy_repository(task: Task, path: Path) -> None:
    """Copy a commit, or a working copy with its uncommitted changes, and mark that state."""
    without = [task.origin] if task.origin else []
    from .repository import Repository

    with Repository.open(cast("Path", task.repo)) as source:
        source.copy(path, revision=task.commit, history=task.history, without=without)
