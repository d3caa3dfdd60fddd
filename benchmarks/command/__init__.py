"""`mas-bench`: teams on public benchmarks, with the original verdicts."""

from __future__ import annotations

import click

from ...schema.command import Family
from .evaluate import replay, resume, run, show
from .evolve import evolve
from .export import export
from .merge import merge
from .papers import papers
from .reports import compare_results, info, show_list, table
from .tasks import write_tasks
from .teams import equip, vote

__all__ = ["main"]


@click.group("bench", cls=Family)
def main() -> None:
    """Measure teams on public benchmarks, and compare what came of it.

    Results are folders: how the figures were made, every sample, and all answers that were paid
    for, so that an evaluation goes on after any interruption and can be made again offline.
    """


for command in (
    show_list,
    info,
    write_tasks,
    run,
    resume,
    replay,
    show,
    merge,
    evolve,
    papers,
    compare_results,
    table,
    export,
    vote,
    equip,
):
    main.add_command(command)
