"""Results of trials, kept in a folder as they come: a second run goes on from there."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import click

from coterie.pool.ledger.ledger import Ledger

from .simulated import side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from dataclasses import Field
    from pathlib import Path

FILE = "outcomes.jsonl"


class _Job(Protocol):
    """What there is to do: a frozen dataclass of JSON's values, with a name that no other has.

    It is of one row, or arm, in one world, under one seed.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def name(self) -> str: ...
    @property
    def world(self) -> str: ...
    @property
    def row(self) -> str: ...
    @property
    def seed(self) -> int: ...


class _Outcome(Protocol):
    """The result: a dataclass of JSON's values."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def seconds(self) -> float: ...


Done = TypeVar("Done", bound=_Job)
Came = TypeVar("Came", bound=_Outcome)


def kept(
    folder: Path, job: Callable[..., Done], outcome: Callable[[Mapping[str, Any]], Came]
) -> dict[Done, Came]:
    """Read the results that a folder has.

    Args:
        folder: The folder.
        job: Makes what was done of its fields.
        outcome: Makes the result from its line.

    Raises:
        StorageError: The file is damaged.
    """
    lines = (item.value for item in Ledger(folder / FILE).read())
    return {job(**line["job"]): outcome(line["outcome"]) for line in lines}


def worked(
    work: Callable[[Done], Came],
    todo: Sequence[Done],
    *,
    jobs: int,
    folder: Path | None,
    job: Callable[..., Done],
    outcome: Callable[[Mapping[str, Any]], Came],
) -> Iterator[tuple[Done, Came]]:
    """Do what was not done yet, side by side, and give all results.

    Args:
        work: Does it; a function of a module.
        todo: What there is to do.
        jobs: How many processes.
        folder: Where results are kept, each as soon as all before it are; None: nowhere.
        job: Makes what was done of its fields.
        outcome: Makes the result from its line.

    Raises:
        StorageError: The file is damaged.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    known: Mapping[Done, Came] = {} if folder is None else kept(folder, job, outcome)
    yield from ((item, known[item]) for item in todo if item in known)
    missing = [item for item in todo if item not in known]
    result = side_by_side(work, [(item,) for item in missing], jobs)
    for entry, report in zip(missing, result, strict=True):
        if folder is not None:
            value = {"job": asdict(entry), "outcome": asdict(report)}
            Ledger(folder / FILE).append(value, op=entry.name)
        yield entry, report


def by_world(
    todo: Sequence[Done], come: Iterable[tuple[Done, Came]], score: Callable[[Came], float]
) -> dict[str, dict[str, dict[int, Came]]]:
    """Put results in order, by world, row and seed; tell each on stderr as it comes."""
    table: dict[Done, Came] = {}
    for job, outcome in come:
        click.echo(f"{job.name}: {score(outcome):.3f}, {outcome.seconds:.1f} s", err=True)
        table[job] = outcome
    fields: dict[str, dict[str, dict[int, Came]]] = {}
    for job in todo:
        fields.setdefault(job.world, {}).setdefault(job.row, {})[job.seed] = table[job]
    return fields
