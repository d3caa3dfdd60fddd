"""`mas-op`: one operator at a time, on files."""

from __future__ import annotations

import click

from .children import adapt_team, cross_teams, draw_child, mutate_team
from .knowledge import consolidate_task, select_teams

__all__ = ["main"]


@click.group("op", context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Let an operator act once, and look at what it proposes before anything is kept."""


for command in (
    select_teams,
    adapt_team,
    mutate_team,
    cross_teams,
    consolidate_task,
    draw_child,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
