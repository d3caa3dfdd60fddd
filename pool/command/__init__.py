"""`mas-pool`: looking at a pool, and after it."""

from __future__ import annotations

import click

from ...schema.command import Family
from .agents import show_agents, show_log
from .changes import add_import, adopt, init, restore, retire
from .family import show_lineage, show_origin
from .learnt import show_memory
from .merging import merge, set_up_git
from .population import show_population
from .reports import best, show, show_list
from .since import report
from .undoing import undo_changes
from .upkeep import show_findings

__all__ = ["main"]


@click.group(
    "pool",
    cls=Family,
    moved={
        "blame": "mas-pool origin POOL NAME",
        "export": "mas-pool import OTHER_POOL POOL TEAM",
        "gc": "mas-pool verify POOL --delete",
    },
)
def main() -> None:
    """Look at a pool of teams and agents, and maintain it.

    A pool is a folder. teams/ has a file for each team, and agents/ a folder for each agent with
    its lessons. scaffold/ has the current team, if a single one evolves. ledger.jsonl records every
    event.
    """


for command in (
    init,
    show_list,
    show_agents,
    show_population,
    show,
    show_log,
    show_memory,
    show_lineage,
    show_origin,
    best,
    report,
    add_import,
    merge,
    set_up_git,
    retire,
    restore,
    adopt,
    undo_changes,
    show_findings,
):
    main.add_command(command)
