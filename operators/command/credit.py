"""`mas dev op credit`: the worth of each agent of a finished run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ...runtime.command.spending import caps_option
from ...schema.command import Command
from .arguments import FOLDER, setting_options


@click.command("credit", cls=Command)
@click.argument("run_folder", metavar="RUN", type=FOLDER)
@click.option(
    "--scheme",
    type=click.Choice(["difference", "shapley", "naive"]),
    default="difference",
    show_default=True,
    help="difference: the score lost without each agent. shapley: the mean of what each adds to"
    " any group of the others. naive: the opinion of a judge.",
)
@click.option(
    "--agents",
    metavar="A,B,…",
    help="The agents to credit; the others always take part.  [default: all that worked, except"
    " the one that answers]",
)
@click.option(
    "--per",
    type=click.Choice(["agent", "turn"]),
    default="agent",
    show_default=True,
    help="Credit each agent as a whole, or separately for each round.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="With shapley for more than 6 agents or turns: how many orders to sample.",
)
@click.option(
    "--judge",
    metavar="ALIAS",
    help="A model that scores answers, instead of the task's reference answer.",
)
@caps_option("--budget", "The limits of everything together: usd=2,tokens=500000.")
@click.option(
    "--workers",
    type=click.IntRange(min=1, max=10_000),
    default=4,
    show_default=True,
    help="How many runs to make in parallel.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the runs and the most calls that they need; ask no model.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
@click.option(
    "--unsafe-local",
    is_flag=True,
    help="Use no jail: code that agents write runs with your rights. Use it only in a disposable"
    " VM.",
)
@setting_options
def credit_run(run_folder: Path, **options: Any) -> None:
    """Estimate what each agent contributed to a run's score.

    RUN is a run's folder. The run is repeated without an agent, and compared. Unchanged requests
    are answered from its journal. New answers are kept in RUN/credit, so nothing is paid for twice,
    and the same command resumes after an interruption.
    """
    from .crediting import Crediting

    sys.exit(Crediting.of(run_folder, options).to_the_end())
