"""`mas-bench tasks`: the tasks of a benchmark as a task file."""

from __future__ import annotations

from typing import Any

import click

from ...schema.command import Command, host_catalogue
from ...schema.values.json_text import dumps
from .options import choice_of, named, own_tasks, source_of, tasks

__all__ = ["write_tasks"]


@click.command("tasks", cls=Command)
@click.argument("name", metavar="BENCHMARK|TASKS")
@tasks
@own_tasks
def write_tasks(name: str, **options: Any) -> None:
    """Write the tasks of BENCHMARK, or of a .csv or .jsonl file, as JSONL for `mas-evolve`.

    A line has the reference answer and the scorer, which no agent sees: keep the file from agents
    that read files.
    """
    from ..evaluation.results import Request

    name = named(name, options)
    known = host_catalogue(scorer=options["scorer"])
    source, choice = source_of(options, known), choice_of(options)
    for task in Request(benchmark=name, source=source, choice=choice, trials=1).tasks():
        click.echo(dumps(task.value()))
