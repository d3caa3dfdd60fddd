"""Results of trials, kept in a folder as they come: a second run goes on from there."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from ..pool.ledger import Ledger
from .simulated import side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from dataclasses import Field
    from pathlib import Path

__all__ = ["FILE", "kept", "worked"]

FILE = "outcomes.jsonl"


class _Job(Protocol):
    """What there is to do: a frozen dataclass of JSON's values, with a name that no other has."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def name(self) -> str: ...


class _Outcome(Protocol):
    """What came of it: a dataclass of JSON's values."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Done = TypeVar("Done", bound=_Job)
Came = TypeVar("Came", bound=_Outcome)


def kept(
    folder: Path, job: Callable[..., Done], outcome: Callable[[Mapping[str, Any]], Came]
) -> dict[Done, Came]:
    """Read the results that a folder has.

    Args:
        folder: The folder.
        job: Makes what was done of its fields.
        outcome: Makes what came of it of its line.

    Raises:
        StorageError: The file is damaged.
    """
    lines = (one.value for one in Ledger(folder / FILE).read())
    return {job(**one["job"]): outcome(one["outcome"]) for one in lines}


def worked(
    work: Callable[[Done], Came],
    todo: Sequence[Done],
    jobs: int,
    folder: Path | None,
    before: Callable[[Path], Mapping[Done, Came]],
) -> Iterator[tuple[Done, Came]]:
    """Do what was not done yet, side by side, and give all results.

    Args:
        work: Does it; a function of a module.
        todo: What there is to do.
        jobs: How many processes.
        folder: Where results are kept, each as soon as all before it are; None: nowhere.
        before: Reads the results that a folder has.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    known: Mapping[Done, Came] = {} if folder is None else before(folder)
    yield from ((one, known[one]) for one in todo if one in known)
    missing = [one for one in todo if one not in known]
    came = side_by_side(work, [(one,) for one in missing], jobs)
    for job, outcome in zip(missing, came, strict=True):
        if folder is not None:
            value = {"job": asdict(job), "outcome": asdict(outcome)}
            Ledger(folder / FILE).append(value, op=job.name)
        yield job, outcome
