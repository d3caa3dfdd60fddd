"""Options that commands of `mas-bench` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.command.spending import IN_BATCHES, ONE_BY_ONE
from ...schema.command import OutputFile, map_option, with_options
from ...schema.values.errors import InputError
from ...schema.values.part import Part
from ..evaluation.choosing import SPLITS, TaskChoice

if TYPE_CHECKING:
    from ...schema.host.catalogue import Catalogue
    from ..evaluation.benchmark import Source

TOO_LOW = 4
"""The exit code if everything ran, but a figure is below the required value."""
RESULTS_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

results_parent = click.option(
    "--results",
    "parent",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The folder for results.",
)
workers = click.option(
    "--workers",
    type=click.IntRange(min=1, max=10_000),
    help=f"How many runs to make in parallel.  [default: {ONE_BY_ONE}, with --batch {IN_BATCHES}]",
)

tasks = with_options(
    click.option(
        "--data",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="The folder with the benchmark's files; `mas-bench list NAME` lists them.",
    ),
    click.option(
        "--level",
        type=click.IntRange(1, 5),
        default=1,
        show_default=True,
        help="The difficulty of a generated benchmark's tasks.",
    ),
    click.option(
        "--count",
        type=click.IntRange(min=1),
        help="How many tasks a generated benchmark makes.  [default: its own number]",
    ),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        help="Take only N tasks, in proportion to the niches' sizes.",
    ),
    click.option(
        "--instances",
        multiple=True,
        metavar="GLOB",
        help="Take only tasks whose id matches, such as 'astropy__*'. May be repeated.",
    ),
    click.option(
        "--seed",
        type=int,
        default=0,
        show_default=True,
        help="The random seed for generated tasks, splits and limits, and for models that support"
        " one.",
    ),
    click.option(
        "--split",
        type=click.Choice(SPLITS),
        default="all",
        show_default=True,
        help="The tasks to evolve on, the tasks to test on, or all.",
    ),
    click.option(
        "--evolve-share",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.5,
        show_default=True,
        help="The share of each niche that belongs to the split to evolve on.",
    ),
    click.option("--shuffle", type=int, metavar="SEED", help="Take the tasks in another order."),
    click.option(
        "--shard",
        metavar="K/N",
        help="Take only the K-th of N parts; `mas-bench merge` merges their results.",
    ),
)
"""The options that select tasks; `source_of` and `choice_of` read them."""
own_tasks = with_options(
    click.option(
        "--scorer",
        metavar="NAME|FILE.py:FUNCTION",
        help="With TASKS: the scorer for tasks that name none: an installed scorer, your own"
        " function, or judge, a model (the alias judge, or else default).  [default: exact]",
    ),
    map_option,
    click.option(
        "--rubric", metavar="TEXT", help="With --scorer judge: the criteria of a good answer."
    ),
)
"""The options for the user's own tasks; `named` and `source_of` read them."""
verdict = with_options(
    click.option(
        "--fail-under",
        type=click.FloatRange(0, 1),
        metavar="SCORE",
        help="Exit with code 4 if the figure is below this.",
    ),
    click.option(
        "--junit",
        metavar="FILE",
        type=OutputFile(),
        help="Also write the trials as JUnit XML. A trial below --fail-under, or below 1, failed.",
    ),
)
"""The options that set minimum figures and the output format."""


def source_of(options: dict[str, Any], catalogue: Catalogue | None = None) -> Source:
    """Return the source of tasks.

    Args:
        catalogue: The names that the user's own tasks may use.
    """
    from ...schema.loading.scorers import named_scorer
    from ..evaluation.benchmark import Source

    names = ("data", "seed", "level", "count", "rubric")
    settings = {name: options[name] for name in names if options.get(name) is not None}
    scorer = named_scorer(options["scorer"]) if options.get("scorer") else ""
    columns = ",".join(options.get("columns", ()))
    return Source(**settings, scorer=scorer, columns=columns, catalogue=catalogue)


def named(name: str, options: dict[str, Any]) -> str:
    """Return the benchmark's name; a file of tasks becomes the option `data` of `own`.

    Raises:
        InputError: --scorer and --rubric are only for the user's own tasks, or --rubric for a
            judge.
    """
    from ..evaluation.own import JUDGE, NAME, is_own

    if is_own(name):
        options["data"], name = Path(name), NAME
    if options.get("scorer") and name != NAME:
        raise InputError(f"--scorer: {name} has its own scorer. Use it only with a file of tasks.")
    if options.get("columns") and name != NAME:
        raise InputError(f"--map: {name} has its own tasks. Use it only with a file of tasks.")
    if options.get("rubric") and options["scorer"] != JUDGE:
        raise InputError(f"--rubric needs a judge. Add --scorer {JUDGE}.")
    return name


def choice_of(options: dict[str, Any]) -> TaskChoice:
    """Return the selection of tasks."""
    names = ("split", "evolve_share", "limit", "seed", "shuffle", "instances")
    shard = Part.read(options["shard"], "--shard") if options["shard"] else None
    return TaskChoice(**{name: options[name] for name in names}, shard=shard)
