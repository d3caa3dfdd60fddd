"""Git working copies to repair: one commit each, without other history."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

from ...runtime.repository.git import git
from ...schema.values.errors import AgentError, InputError
from ...schema.values.files import naming

_COMMIT = """\
tree {tree}
author coterie <coterie@localhost> 0 +0000
committer coterie <coterie@localhost> 0 +0000

{message}
"""


def working_copy(folder: Path, commit: str, make: Callable[[Path], None]) -> Path:
    """Return a working copy at a commit, and create it first if missing.

    Several processes may do this at the same time; a killed one leaves no incomplete folder of that
    name.

    Args:
        commit: The required commit, without changes.
        make: Creates it in a new folder.

    Raises:
        InputError: `make` failed, or the existing copy has another commit or changes.
        StorageError: It cannot be stored.
    """
    if not folder.exists():
        with naming(folder):
            _make_at(folder, make)
    with _explained(folder):
        head = git(folder, "rev-parse", "HEAD").strip()
        changes = git(folder, "status", "--porcelain").strip()
    if head != commit or changes:
        text = f"was changed: {changes.splitlines()[0]}" if changes else f"is at commit {head}"
        raise InputError(
            f"{str(folder)!r} must be as it was made, at commit {commit}, but it {text}. Remove"
            " the folder, and it is made again."
        )
    return folder


def commit_all(folder: Path, message: str) -> str:
    """Make a folder a repository with one commit, which is the same on every machine.

    Returns:
        The commit's id.
    """
    with _explained(folder):
        git(folder, "init", "--quiet", "--object-format=sha1", "--initial-branch=main")
        git(folder, "add", "--all", "--force")
        tree = git(folder, "write-tree").strip()
        text = _COMMIT.format(tree=tree, message=message)
        commit = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", text=text).strip()
        git(folder, "update-ref", "HEAD", commit)
    return commit


def _make_at(folder: Path, make: Callable[[Path], None]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as workplace:
        path = Path(workplace) / "copy"
        path.mkdir()
        make(path)
        with contextlib.suppress(FileExistsError):
            _rename(path, folder)


def _rename(path: Path, folder: Path) -> None:
    """Rename a folder, unless another process was quicker."""
    try:
        path.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(path)


@contextlib.contextmanager
def _explained(folder: Path) -> Generator[None]:
    """Add the repository's name to git's message."""
    try:
        yield
    except AgentError as error:
        raise InputError(f"the repository {str(folder)!r} cannot be used: {error}") from error
