"""`mas-bench tasks`: the tasks of a benchmark as a task file."""

from __future__ import annotations

import json
from typing import Any

import click

from ...schema.command import Command
from .options import choice_of, source_of, tasks

__all__ = ["write_tasks"]


@click.command("tasks", cls=Command)
@click.argument("name", metavar="BENCHMARK")
@tasks
def write_tasks(name: str, **options: Any) -> None:
    """Write the tasks of BENCHMARK as JSONL, for `mas-evolve` and others.

    A line has the reference answer and the scorer, which no agent sees: keep the file from agents
    that read files.
    """
    from ..results import Request

    source, choice = source_of(options), choice_of(options)
    for task in Request(benchmark=name, source=source, choice=choice, trials=1).tasks():
        click.echo(json.dumps(task.value()))
