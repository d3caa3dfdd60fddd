"""Options that commands of `mas-bench` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..choosing import SPLITS, Choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..benchmark import Source

__all__ = ["RESULTS_FOLDER", "as_json", "choice_of", "source_of", "spending", "tasks", "workers"]

RESULTS_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

workers = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="How many runs are at work at once.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

_TASKS = (
    click.option(
        "--data",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="The folder with the benchmark's files; `mas-bench info NAME` says which.",
    ),
    click.option(
        "--level",
        type=click.IntRange(1, 5),
        default=1,
        show_default=True,
        help="How hard the tasks of a generated benchmark are.",
    ),
    click.option(
        "--count",
        type=click.IntRange(min=1),
        help="How many tasks a generated benchmark makes.  [default: as it says]",
    ),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        help="Take only so many tasks, of each niche its share.",
    ),
    click.option(
        "--instances",
        multiple=True,
        metavar="GLOB",
        help="Take only tasks whose id fits, such as 'astropy__*'. May be given several times.",
    ),
    click.option(
        "--seed",
        type=int,
        default=0,
        show_default=True,
        help="Which tasks a generator makes, a split has and a limit leaves; and sampling, where"
        " the endpoint can repeat it.",
    ),
)
_SPLITS = (
    click.option(
        "--split",
        type=click.Choice(SPLITS),
        default="all",
        show_default=True,
        help="The tasks to evolve on, or those that are left to test on.",
    ),
)
_SHARE = click.option(
    "--evolve-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="How much of each niche is the split to evolve on.",
)
_SHUFFLE = click.option(
    "--shuffle", type=int, metavar="SEED", help="Take the tasks in another order."
)
_SPENDING = (
    click.option(
        "--budget",
        metavar="CAPS",
        help="What everything together may cost: usd=20,tokens=5000000,calls=1000,seconds=3600.",
    ),
    click.option(
        "--allow-unpriced",
        is_flag=True,
        help="With usd=: also call models whose price is unknown.",
    ),
    click.option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        help="Keep answers in this folder, and take from there what others asked alike.",
    ),
    click.option("--quiet", is_flag=True, help="No progress on standard error."),
    click.option(
        "--unsafe-local",
        is_flag=True,
        help="Run code that agents write without a jail, with your rights. Only in a throw-away"
        " VM.",
    ),
)


def tasks(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which tasks; `source_of` and `choice_of` read them."""
    for option in reversed((*_TASKS, *_SPLITS, _SHARE, _SHUFFLE)):
        command = option(command)
    return command


def spending(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what it may cost and how it is made."""
    for option in reversed(_SPENDING):
        command = option(command)
    return command


def source_of(options: dict[str, Any]) -> Source:
    """Read where tasks come from."""
    from ..benchmark import Source

    names = ("data", "seed", "level", "count")
    return Source(**{name: options[name] for name in names})


def choice_of(options: dict[str, Any]) -> Choice:
    """Read which tasks are taken."""
    names = ("split", "evolve_share", "limit", "seed", "shuffle", "instances")
    return Choice(**{name: options[name] for name in names})
