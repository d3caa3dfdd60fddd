"""`mas-pool undo`: taking back what a task or a commit did to a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...runtime.values.terminal import counted, on_one_line
from ...schema.command import Command
from .arguments import open_pool, pool_folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["undo_changes"]


@click.command("undo", cls=Command)
@pool_folder
@click.argument("what", metavar="TASK|COMMIT|OPERATION")
@click.option("--reason", default="", help="The reason, which is kept in the ledger.")
def undo_changes(folder: Path, what: str, reason: str) -> None:
    """Take back what a task, a commit or an operation did to a pool.

    Teams and agents that were born retire, those that retired are members again, agents are what
    they were before, lessons are forgotten. Nothing is deleted: trials stay, and so do members that
    were made of those that retire. Undoing an undo, by its operation, leads forward again.

    TASK is the id of a task that an evolution did; COMMIT a commit of git, such as those of
    mas-evolve --git; OPERATION a name in the ledger, or what several begin with: ada/000003.
    """
    from ..git.undoing import operations_of, told, undo

    pool = open_pool(folder)
    undone = undo(pool, operations_of(pool, what), reason=reason or f"undone: {what}")
    for change in undone.changes:
        click.echo(on_one_line(told(change)))
    if undone.heirs:
        click.echo(f"still members, although a parent retired: {', '.join(undone.heirs)}")
    changes = counted(len(undone.changes), "change")
    done = f"{counted(undone.operations, 'line')} undone by {changes}"
    trials = f"; {counted(undone.trials, 'trial')} kept" if undone.trials else ""
    click.echo(f"{folder}: {done if undone.changes else 'nothing to take back'}{trials}")
