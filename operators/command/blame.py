"""`mas dev blame`: which agent made a run fail, at which step, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command
from ..blame.verdict import SCHEMES
from .arguments import FOLDER, model_options, setting_options


@click.command("blame", cls=Command)
@click.argument("run_folder", metavar="RUN", type=FOLDER)
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    default="collaborative",
    show_default=True,
    help="global: one question about all steps. local: one for each agent about its own steps."
    " collaborative: as local, then each reads the other verdicts and looks again.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1, max=10),
    default=2,
    show_default=True,
    help="With collaborative: how many times they look again.",
)
@click.option("--wrong", is_flag=True, help="Treat the run's answer as wrong, whatever its score.")
@click.option(
    "--expected",
    metavar="ANSWER",
    help="The right answer.  [default: the task's reference answer, if it has one]",
)
@click.option("--blind", is_flag=True, help="Do not show the model the right answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@model_options
@setting_options
def main(run_folder: Path, **options: Any) -> None:
    """Name the agent that made a run fail, the step, and the reason.

    RUN is the folder of a run that failed, was stopped, or gave a wrong answer. A model judges it.
    Its answers are kept in RUN/blame, so nothing is paid for twice, and the same command resumes
    after an interruption. The verdict is kept in RUN/blame/SCHEME.json. The rest of the run is
    unchanged. Exits with code 1 without a verdict: no agent is accused, or no answer was usable.
    """
    from .blaming import Blaming

    sys.exit(Blaming.of(run_folder, options).to_the_end())
