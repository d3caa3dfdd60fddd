"""The options of all commands that run teams: their limits, where code runs, what they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ...schema.command import with_options
from ..cluster import on_option

_OPTIONS = (
    click.option(
        "--budget",
        metavar="CAPS",
        help="The limits of everything together, any of:"
        " usd=2,tokens=500000,calls=100,seconds=900.",
    ),
    click.option(
        "--allow-unpriced", is_flag=True, help="With usd=: also call models without a known price."
    ),
    click.option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        help="Keep models' answers in this folder, and reuse them for equal requests.",
    ),
    click.option("--quiet", is_flag=True, help="Print no progress."),
    click.option(
        "--unsafe-local",
        is_flag=True,
        help="Use no jail: agents' code runs with your rights. Use it only in a disposable VM.",
    ),
    on_option,
)

allow_zeros = click.option(
    "--allow-zeros",
    is_flag=True,
    help="Continue although the first scores are all 0 and answers contain the reference answers.",
)

batch_option = click.option(
    "--batch",
    is_flag=True,
    help="Make model calls through the batch APIs of OpenAI and Anthropic: half the price, answers"
    " within a day.",
)
ONE_BY_ONE, IN_BATCHES = 8, 2_000
"""Runs at the same time: where each call is answered at once, and where calls wait for a batch."""


def at_once(runs: int | None, *, batch: bool) -> int:
    """Return how many runs work at the same time.

    Args:
        runs: What the user says, if anything.
    """
    return runs or (IN_BATCHES if batch else ONE_BY_ONE)


def spending_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that runs teams."""
    return with_options(command, _OPTIONS)


def unbudgeted_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same without --budget: a file has the caps."""
    return with_options(command, _OPTIONS[1:])
