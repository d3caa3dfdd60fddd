"""`mas dev blame`: who made a run fail, at which step, and why."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from ..blame.verdict import SCHEMES
from .arguments import FOLDER, model_options, setting_options

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["main"]


@click.command("blame", cls=Command)
@click.argument("run_folder", metavar="RUN", type=FOLDER)
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    default="collaborative",
    show_default=True,
    help="One question with all steps; one for each agent with its own steps; or those, who then"
    " read what the others found and look again.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1, max=10),
    default=2,
    show_default=True,
    help="With collaborative: how often they look again.",
)
@click.option("--wrong", is_flag=True, help="The run's answer is wrong, whatever its score says.")
@click.option(
    "--expected",
    metavar="ANSWER",
    help="The right answer.  [default: the reference answer of the task, where it has one]",
)
@click.option("--blind", is_flag=True, help="Show the model no right answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@model_options
@setting_options
def main(run_folder: Path, **options: Any) -> None:
    """Say which agent made a run fail, at which step, and why.

    RUN is the folder of a run that failed, was stopped, or came to a wrong answer. A model is
    asked; what it answers is kept in RUN/blame, so nothing is paid for twice, and the same command
    goes on after an interruption. The verdict is kept in RUN/blame/SCHEME.json. Nothing else of the
    run is changed. Ends with 1 where there is no verdict: nobody accuses anybody, or no answer was
    of use.
    """
    from .blaming import Blaming

    sys.exit(Blaming.of(run_folder, options).to_the_end())


if __name__ == "__main__":
    main()
