"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.values.terminal import on_one_line
from ..values.statistics import EVOLVE, Statistics

if TYPE_CHECKING:
    from ..expectation.expectation import Expectation
    from ..ledger.members import Member
    from ..teams.pool import Pool

pool_folder = click.argument("folder", metavar="POOL", type=click.Path(path_type=Path))


def of_tasks(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select the tasks; they are the fields of `Tasks`."""
    niche = click.option("--niche", metavar="NAME", help="Count only the tasks of this niche.")
    split = click.option(
        "--split",
        default=EVOLVE,
        show_default=True,
        metavar="NAME",
        help="Count only the tasks of this split.",
    )
    return niche(split(command))


@dataclass(frozen=True, kw_only=True, slots=True)
class Tasks:
    """The selected tasks: those of a split, and of one niche or all."""

    split: str
    niche: str | None = None

    def __call__(self, member: Member) -> Statistics:
        """Return a team's statistics on them."""
        return member.on(self.niche, split=self.split)

    def ranked(self, pool: Pool) -> Mapping[Member, Expectation]:
        """Return all teams of a pool with expected scores, most promising on these tasks first."""
        from ..expectation.expectation import ranked

        return ranked(pool.teams.values(), self.niche, split=self.split)

    def __str__(self) -> str:
        of = f" in the niche {self.niche!r}" if self.niche else ""
        return f"the split {self.split!r}{of}"


def open_pool(folder: Path, **options: Any) -> Pool:
    """Open a pool; leftovers of a crash are reported on standard error.

    Raises:
        InputError: There is no pool.
        StorageError: The pool is damaged.
    """
    from ..teams.pool import Pool

    return Pool.open(folder, report=tell, **options)


def tell(text: str) -> None:
    """Print a message that may quote a file on standard error."""
    click.echo(on_one_line(text), err=True)
