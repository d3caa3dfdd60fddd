"""`mas-bench`: teams on public benchmarks, with the original verdicts."""

from __future__ import annotations

import click

from ...schema.command import Family
from ...schema.values.first_use import ImportedOnUse

__all__ = ["main"]


@click.group(
    "bench",
    cls=Family,
    commands=ImportedOnUse(
        __name__,
        {
            "list": "reports:show_list",
            "tasks": "tasks:write_tasks",
            "run": "evaluate:run",
            "resume": "evaluate:resume",
            "replay": "evaluate:replay",
            "merge": "merge:merge",
            "arena": "arena:arena",
            "compare": "reports:compare_results",
            "table": "reports:table",
            "export": "export:export",
            "vote": "teams:vote",
            "equip": "teams:equip",
        },
    ),
)
def main() -> None:
    """Measure teams on your own tasks or on public benchmarks, and compare the figures.

    Results are folders: how the figures were made, every sample, and all answers that were paid
    for. So an evaluation can be resumed after any interruption, and repeated offline.
    """
