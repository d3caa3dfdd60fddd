"""`mas-pool undo`: undoes the changes of a task or a commit to a pool."""

from __future__ import annotations

from pathlib import Path

import click

from ...schema.command import Command
from ...schema.values.terminal import counted, on_one_line
from .arguments import open_pool, pool_folder


@click.command("undo", cls=Command)
@pool_folder
@click.argument("what", metavar="TASK|COMMIT|OPERATION")
@click.option("--reason", default="", help="The reason; the ledger keeps it.")
def undo_changes(folder: Path, what: str, reason: str) -> None:
    """Undo the changes of a task, a commit or an operation in a pool.

    New teams and agents retire, retired ones are members again, agents return to their earlier
    revision, and lessons are removed. Nothing is deleted: trials stay, and so do descendants of the
    teams that retire. To redo, undo the undo by its operation.

    TASK is the id of an evolution's task, COMMIT a git commit, such as those of mas-evolve --git,
    and OPERATION a name in the ledger, or the beginning of several: ada/000003.
    """
    from ..git.undoing import describe_change, operations_of, undo

    pool = open_pool(folder)
    undone = undo(pool, operations_of(pool, what), reason=reason or f"undone: {what}")
    for change in undone.changes:
        click.echo(on_one_line(describe_change(change)))
    if undone.heirs:
        click.echo(f"still members, although a parent retired: {', '.join(undone.heirs)}")
    changes = counted(len(undone.changes), "change")
    text = f"{counted(undone.operations, 'line')} undone by {changes}"
    trials = f"; {counted(undone.trials, 'trial')} kept" if undone.trials else ""
    click.echo(f"{folder}: {text if undone.changes else 'nothing to undo'}{trials}")
