"""Commits of a pool: in the repository that it stands in, else in one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runtime.git import git
from ...schema.errors import AgentError, InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_repository", "commit"]

NONE = "not a git repository"


def check_repository(pool: Path) -> None:
    """Make sure that git can keep a pool, which need not be there yet.

    Raises:
        InputError: git is not installed, or the repository around it passes the pool over.
    """
    folder = next(one for one in (pool, *pool.absolute().parents) if one.is_dir())
    if not _has_repository(folder):
        return
    try:
        git(folder, "check-ignore", "--quiet", str(pool.absolute()))
    except AgentError:
        return  # git ends with 1 where nothing is ignored
    raise InputError(
        f"--git: the repository around {pool} ignores it. Take it out of .gitignore, or put the"
        " pool elsewhere."
    )


def commit(pool: Path, message: str) -> None:
    """Commit what changed in a pool, and nothing else: what a person has staged stays staged.

    A pool that stands in no repository is made one.

    Raises:
        AgentError: git failed.
    """
    if not _has_repository(pool):
        git(pool, "init", "--quiet")
    git(pool, "add", "--all", "--", ".")
    if git(pool, "status", "--porcelain", "--", "."):
        git(pool, "commit", "--quiet", "--message", message, "--", ".")


def _has_repository(folder: Path) -> bool:
    try:
        return git(folder, "rev-parse", "--is-inside-work-tree").strip() == "true"
    except AgentError as error:
        if NONE in str(error):
            return False
        raise InputError(f"--git: {error}") from None
