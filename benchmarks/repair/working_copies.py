"""Git working copies of what is to be repaired: one commit each, with no history beyond it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

from ...runtime.repository.git import git
from ...schema.values.errors import AgentError, InputError, StorageError

_COMMIT = """\
tree {tree}
author coterie <coterie@localhost> 0 +0000
committer coterie <coterie@localhost> 0 +0000

{message}
"""


def working_copy(folder: Path, commit: str, make: Callable[[Path], None]) -> Path:
    """Return a working copy that stands at a commit; where it is missing, make it first.

    Several processes may do this at once; one that is killed leaves no half folder of that name.

    Args:
        folder: Where it is, or is to be.
        commit: The commit that it must stand at, with no change.
        make: Makes it in a new folder.

    Raises:
        InputError: What `make` raises, or what is there is another commit or was changed.
        StorageError: It cannot be stored.
    """
    if not folder.exists():
        try:
            _make_at(folder, make)
        except OSError as error:
            raise StorageError(error.errno, error.strerror, str(folder)) from error
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
    """Make a folder a repository with one commit, the same on every machine.

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
    """Give a folder its name, unless another process was quicker."""
    try:
        path.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(path)


@contextlib.contextmanager
def _explained(folder: Path) -> Generator[None]:
    """Say of which repository git's words are."""
    try:
        yield
    except AgentError as error:
        raise InputError(f"the repository {str(folder)!r} cannot be used: {error}") from error
