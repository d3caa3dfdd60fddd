"""Writing of a better team: to a new file, or into its source file, as one commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...runtime.repository.repository import IndexLocked, Repository
from ...schema.team.team import Team
from ...schema.team.writing import dump, schema_beside
from ...schema.values.errors import AgentError, InputError
from ...schema.values.files import write_atomically
from ...schema.values.hints import listed

HEAD = "HEAD"


def write_new(path: Path, team: Team) -> None:
    """Write a team to a file; never overwrite a file with other content.

    Raises:
        InputError: There is another file of this name.
        StorageError: It cannot be written.
    """
    text = dump(team, schema=schema_beside(path))
    try:
        there = path.read_bytes()
    except FileNotFoundError:
        write_atomically(path, text)
        return
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    if there != text.encode():
        raise InputError(f"{path} already exists and is not overwritten. Name another file.")


def refuse_unclean(path: Path, *, besides: Iterable[Path] = ()) -> None:
    """Check, before an evolution, that a team's file can be changed in place by one commit.

    If an evolution was killed, `commit_in_place` may have written the file already. So resuming
    skips this check.

    Args:
        besides: Folders whose changes are ignored, such as the pool's.

    Raises:
        InputError: It is not a file, git does not track it, or the work tree has other changes.
    """
    if not path.is_file():
        raise InputError(
            f"--in-place: {path} is not a file. Write the team to one: mas dev fmt {path} --to-file"
            " team.yaml"
        )
    folders = [folder.resolve() for folder in besides]
    try:
        with Repository.around(path) as repository:
            problem = _problem(repository, path.resolve(), folders)
    except AgentError as error:
        raise InputError(f"--in-place: {error}") from None
    if problem:
        raise InputError(f"--in-place: {problem}")


def commit_in_place(path: Path, text: str, message: str) -> None:
    """Write a team's file and commit it alone; earlier commits stay.

    It is idempotent: after a kill at any point, it can be repeated.

    Args:
        path: The team's file, checked by `refuse_unclean`.

    Raises:
        IndexLocked: Another process of git holds the index. The file has its old content.
        AgentError: The file has other changes, which are kept; or git failed.
        StorageError: The file cannot be written.
    """
    path = path.resolve()
    with Repository.around(path) as repository:
        if repository is None:
            raise AgentError(f"{path} is no longer in a git repository.")
        name = _name(repository, path)
        if repository.text(HEAD, name) == text:
            return
        before = path.read_bytes()
        if before != text.encode():
            if name in repository.uncommitted():
                raise AgentError(
                    f"{path} has uncommitted changes, and is not overwritten. Commit them, or"
                    " discard them (git restore), and repeat the command."
                )
            write_atomically(path, text)
        try:
            repository.commit(path, message)
        except IndexLocked:
            write_atomically(path, before)
            raise


def _problem(repository: Repository | None, path: Path, folders: Sequence[Path]) -> str:
    if repository is None:
        return f"{path} is not in a git repository. Commit it to one, or use a new file with --out."
    if repository.text(HEAD, _name(repository, path)) is None:
        return f"git does not track {path}. Commit it first."
    changed = [
        name
        for name in repository.uncommitted()
        if not any((repository.source / name).is_relative_to(folder) for folder in folders)
    ]
    if changed:
        return f"there are uncommitted changes: {listed(changed)}. Commit them first."
    return ""


def _name(repository: Repository, path: Path) -> str:
    return path.relative_to(repository.source).as_posix()
