"""`mas dev op credit`: what each agent of a finished run was worth."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from .arguments import FOLDER, setting_options

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["credit_run"]


@click.command("credit", cls=Command)
@click.argument("run_folder", metavar="RUN", type=FOLDER)
@click.option(
    "--scheme",
    type=click.Choice(["difference", "shapley", "naive"]),
    default="difference",
    show_default=True,
    help="The score that is lost without each; the mean of what each adds, whoever else is there;"
    " or what a judge thinks.",
)
@click.option(
    "--agents",
    metavar="A,B,…",
    help="Whose worth is asked for; the others always take part.  [default: all who took part, but"
    " for the one that gives the answer]",
)
@click.option(
    "--per",
    type=click.Choice(["agent", "turn"]),
    default="agent",
    show_default=True,
    help="An agent's whole part, or what it said in each round.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="With shapley for more than 6 agents or turns: how many orders are drawn.",
)
@click.option(
    "--judge",
    metavar="ALIAS",
    help="The model that scores answers where the task has no reference answer, or in its place.",
)
@click.option("--budget", metavar="CAPS", help="What all of it may cost: usd=2,tokens=500000.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Runs that are at work at once.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be run, and how many calls at most.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.option(
    "--unsafe-local",
    is_flag=True,
    help="Use no jail: code that agents write runs with your rights. Only in a throw-away VM.",
)
@setting_options
def credit_run(run_folder: Path, **options: Any) -> None:
    """Say what each agent of a finished run was worth to its score.

    RUN is a run's folder. The run is made again without an agent, and compared; what that has in
    common with the run is answered from its journal. The rest is kept in RUN/credit, so nothing is
    paid for twice, and the same command goes on after an interruption.
    """
    from .crediting import Crediting

    sys.exit(Crediting.of(run_folder, options).to_the_end())
