"""The team that a pool would deploy, for whoever serves it."""

from __future__ import annotations

from pathlib import Path

from ..teams.pool import Pool
from .expectation import most_promising


def best_team(folder: Path) -> Path:
    """Return the file of the team of which a pool expects most.

    Raises:
        InputError: There is no pool, or no team in it.
        StorageError: It is damaged.
    """
    member, _ = most_promising(Pool.open(folder))
    return member.path
