"""`mas-bench tasks`: the tasks of a benchmark as a task file."""

from __future__ import annotations

from typing import Any

import click

from ...schema.command import Command, host_catalogue
from ...schema.values.json_text import dumps
from .options import choice_of, named, own_tasks, source_of, tasks


@click.command("tasks", cls=Command)
@click.argument("name", metavar="BENCHMARK|TASKS")
@tasks
@own_tasks
def write_tasks(name: str, **options: Any) -> None:
    """Write the tasks of BENCHMARK, or of a .csv or .jsonl file, as JSONL for `mas-evolve`.

    A line has the reference answer and the scorer, which no agent sees: keep the file away from
    agents that read files. Repositories and other files that the tasks need are fetched.
    """
    from ..evaluation.benchmark import find_benchmark
    from ..evaluation.results import Request

    name = named(name, options)
    catalogue = host_catalogue(scorer=options["scorer"])
    source, choice = source_of(options, catalogue), choice_of(options)
    chosen = Request(benchmark=name, source=source, choice=choice, trials=1).tasks()
    find_benchmark(name).prepare(source, chosen)
    for task in chosen:
        click.echo(dumps(task.value()))
