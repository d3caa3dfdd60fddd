"""Commits of a pool: in the git repository around it, or in one of its own."""

from __future__ import annotations

from pathlib import Path

from ...pool.git.news import news_since_commit
from ...runtime.repository.git import git
from ...runtime.repository.repository import Repository
from ...schema.values.errors import AgentError, InputError


def check_repository(pool: Path) -> None:
    """Check that git can keep a pool, which need not exist yet.

    Raises:
        InputError: git is not installed, or the repository around the pool ignores it.
    """
    try:
        git(Path(), "version")
        with Repository.around(pool) as repository:
            ignored = repository is not None and repository.is_ignored(pool)
    except AgentError as error:
        raise InputError(f"--git: {error}") from None
    if ignored:
        raise InputError(
            f"--git: git ignores {pool}. Remove it from .gitignore, or put the pool elsewhere."
        )


def commit(pool: Path, message: str) -> None:
    """Commit the changes of a pool alone; files that the user has staged stay staged.

    A pool outside any repository becomes one. The body of the message lists the events since the
    pool's last commit: births and revisions with their edits and reasons, and scores.

    Args:
        message: The first line of the message.
    """
    with Repository.around(pool) as repository:
        if repository is not None:
            news = news_since_commit(pool, repository)
            repository.commit(pool, "\n".join([message, "", *news] if news else [message]))
            return
    git(pool, "init", "--quiet")
    commit(pool, message)
