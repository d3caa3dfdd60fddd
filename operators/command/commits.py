"""Commits of a pool: in the repository that it stands in, else in one of its own."""

from __future__ import annotations

from pathlib import Path

from ...pool.git.news import news_since_commit
from ...runtime.repository.git import git
from ...runtime.repository.repository import Repository
from ...schema.values.errors import AgentError, InputError


def check_repository(pool: Path) -> None:
    """Make sure that git can keep a pool, which need not be there yet.

    Raises:
        InputError: git is not installed, or the repository around it passes the pool over.
    """
    try:
        git(Path(), "version")
        with Repository.around(pool) as repository:
            ignored = repository is not None and repository.is_ignored(pool)
    except AgentError as error:
        raise InputError(f"--git: {error}") from None
    if ignored:
        raise InputError(
            f"--git: the repository around {pool} ignores it. Remove it from .gitignore, or put"
            " the pool elsewhere."
        )


def commit(pool: Path, message: str) -> None:
    """Commit what changed in a pool, and nothing else: what a person has staged stays staged.

    A pool that stands in no repository is made one. The message goes on with what happened to the
    pool since its last commit: who was born or revised, by which edits and why, and what it scored.

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
