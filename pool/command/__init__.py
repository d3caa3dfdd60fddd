"""`mas-pool`: looking at a pool, and after it."""

from __future__ import annotations

import click

from ...schema.command import Family
from ...schema.values.first_use import ImportedOnUse

__all__ = ["main"]


@click.group(
    "pool",
    cls=Family,
    commands=ImportedOnUse(
        __name__,
        {
            "init": "changes:init",
            "list": "reports:show_list",
            "agents": "agents:show_agents",
            "population": "population:show_population",
            "show": "reports:show",
            "log": "agents:show_log",
            "memory": "learnt:show_memory",
            "lineage": "family:show_lineage",
            "origin": "family:show_origin",
            "best": "reports:best",
            "report": "since:report",
            "import": "changes:add_import",
            "merge": "merging:merge",
            "git": "merging:set_up_git",
            "retire": "changes:retire",
            "restore": "changes:restore",
            "adopt": "changes:adopt",
            "undo": "undoing:undo_changes",
            "verify": "upkeep:show_findings",
        },
    ),
)
def main() -> None:
    """Look at a pool of teams and agents, and maintain it.

    A pool is a folder. teams/ has a file for each team, and agents/ a folder for each agent with
    its lessons. scaffold/ has the current team, if a single one evolves. ledger.jsonl records every
    event.
    """
