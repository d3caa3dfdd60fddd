"""`mas-evolve`: a recipe, a stream of tasks, a pool that learns from them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, host_catalogue, host_options, problem_format
from ...schema.errors import InputError

if TYPE_CHECKING:
    from ...schema.catalogue import Catalogue
    from ...schema.task import Task

__all__ = ["main"]


@click.command(cls=Command)
@click.argument("recipe_file", metavar="RECIPE", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("tasks_file", metavar="TASKS", type=click.Path(path_type=Path))
@click.option(
    "--pool",
    "pool_folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The pool. One that does not exist yet begins with the recipe's seeds.",
)
@click.option("--name", help="The evolution's name in the pool.  [default: the recipe's file name]")
@click.option(
    "--budget",
    metavar="CAPS",
    help="What everything together may cost: usd=20,tokens=5000000,calls=1000,seconds=3600.",
)
@click.option(
    "--allow-unpriced", is_flag=True, help="With usd=: also call models whose price is unknown."
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep answers in this folder, and take from there what others asked alike.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Take only the first so many tasks.")
@click.option("--git", "use_git", is_flag=True, help="Commit the pool after each task.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.option(
    "--unsafe-local",
    is_flag=True,
    help="Run code that agents write without a jail, with your rights. Only in a throw-away VM.",
)
@host_options
@problem_format
def main(recipe_file: Path, tasks_file: Path, pool_folder: Path, **options: Any) -> None:
    """Evolve the teams of a pool over a stream of tasks.

    RECIPE says how (`mas explain evolution`). TASKS is a JSONL file with a task on each line, or a
    folder of task files. The pool holds valid teams only, whatever a model answers. The same
    command again goes on where an interrupted evolution ended, and shows the report of one that is
    done; nothing is paid twice.
    """
    from ...schema.recipe import load_recipe
    from .evolving import Evolving

    names = ("model", "models_file", "tools_file", "allowed_tools")
    known = host_catalogue(**{name: options[name] for name in names})
    recipe = load_recipe(recipe_file)
    tasks = load_tasks(tasks_file, known)[: options["limit"]]
    evolving = Evolving(recipe_file, recipe, tasks, pool_folder, known, options)
    sys.exit(evolving.to_the_end())


def load_tasks(path: Path, known: Catalogue) -> list[Task]:
    """Load a stream of tasks, in order: the lines of a file, or the files of a folder by name.

    Raises:
        InputError: One does not load, there is none, or two have the same id.
    """
    from ...schema.loading import load_task, parse_task, read_file

    if path.is_dir():
        tasks = [load_task(one, known) for one in sorted(path.glob("*.json"))]
    else:
        lines = enumerate(read_file(path).splitlines(), start=1)
        tasks = [
            parse_task(line, f"{path}:{number}", path.parent, known)
            for number, line in lines
            if line.strip()
        ]
    if not tasks:
        raise InputError(f"{path}: there is no task in it.")
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise InputError(f"{path}: two tasks have the id {task.id!r}. Each needs its own.")
        seen.add(task.id)
    return tasks


if __name__ == "__main__":
    main()
