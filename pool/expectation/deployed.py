"""The team of a pool to deploy."""

from __future__ import annotations

from pathlib import Path

from ..teams.pool import Pool
from .expectation import most_promising


def best_team(folder: Path) -> Path:
    """Return the file of the team with the highest expected score.

    Raises:
        InputError: There is no pool, or no team in it.
        StorageError: The pool is damaged.
    """
    member, _ = most_promising(Pool.open(folder))
    return member.path
