"""Results of rows on streams, kept in a folder as they come: a second run goes on from there."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ...pool.ledger import Ledger
from ..simulated import side_by_side
from .outcomes import Outcome
from .trials import Job, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["FILE", "kept", "worked"]

FILE = "outcomes.jsonl"


def kept(folder: Path) -> dict[Job, Outcome]:
    """Read the results that a folder has.

    Raises:
        StorageError: The file is damaged.
    """
    lines = (one.value for one in Ledger(folder / FILE).read())
    return {Job(**one["job"]): Outcome.of(one["outcome"]) for one in lines}


def worked(todo: Sequence[Job], jobs: int, folder: Path | None) -> Iterator[tuple[Job, Outcome]]:
    """Do what was not done yet, side by side, and give all results.

    Args:
        todo: What there is to do.
        jobs: How many processes.
        folder: Where results are kept, each as soon as all before it are; None: nowhere.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    before: Mapping[Job, Outcome] = {} if folder is None else kept(folder)
    yield from ((one, before[one]) for one in todo if one in before)
    missing = [one for one in todo if one not in before]
    came = side_by_side(work, [(one,) for one in missing], jobs)
    for job, outcome in zip(missing, came, strict=True):
        if folder is not None:
            value = {"job": asdict(job), "outcome": asdict(outcome)}
            Ledger(folder / FILE).append(value, op=job.name)
        yield job, outcome
