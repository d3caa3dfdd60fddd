"""Commands that are called in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click
from click.testing import CliRunner, Result


def ran(command: click.Command, *words: object) -> Result:
    """Run a command with these words; what it does not expect is in the result."""
    return CliRunner().invoke(command, [str(word) for word in words])


def runner_of(command: click.Command) -> Callable[..., Result]:
    """Return a function that runs the command with its words."""
    return partial(ran, command)
