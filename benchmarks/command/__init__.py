"""`mas-bench`: teams on public benchmarks, with the original verdicts."""

from __future__ import annotations

import click

from ...schema.command import Family
from .arena import arena
from .evaluate import replay, resume, run
from .export import export
from .merge import merge
from .reports import compare_results, show_list, table
from .tasks import write_tasks
from .teams import equip, vote

__all__ = ["main"]


@click.group(
    "bench",
    cls=Family,
    moved={
        "evolve": "mas-bench tasks BENCHMARK --split evolve > tasks.jsonl, then mas-evolve RECIPE"
        " tasks.jsonl",
        "info": "mas-bench list BENCHMARK",
        "show": "mas-view --text RESULTS TASK TRIAL",
    },
)
def main() -> None:
    """Measure teams on your own tasks or on public benchmarks, and compare the figures.

    Results are folders: how the figures were made, every sample, and all answers that were paid
    for. So an evaluation can be resumed after any interruption, and repeated offline.
    """


for command in (
    show_list,
    write_tasks,
    run,
    resume,
    replay,
    merge,
    arena,
    compare_results,
    table,
    export,
    vote,
    equip,
):
    main.add_command(command)
