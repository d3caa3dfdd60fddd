"""Results of arms in worlds, kept in a folder as they come: a second run goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import resumable
from .outcomes import Outcome
from .trials import Job, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["kept", "worked"]


def kept(folder: Path) -> dict[Job, Outcome]:
    """Read the results that a folder has.

    Raises:
        StorageError: The file is damaged.
    """
    return resumable.kept(folder, Job, Outcome.of)


def worked(todo: Sequence[Job], jobs: int, folder: Path | None) -> Iterator[tuple[Job, Outcome]]:
    """Do what was not done yet, side by side, and give all results; see `resumable.worked`."""
    return resumable.worked(work, todo, jobs, folder, kept)
