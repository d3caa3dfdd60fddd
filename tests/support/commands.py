"""Commands that are called in this process."""

from __future__ import annotations

import click
from click.testing import CliRunner, Result

from coterie.schema.command import main


def ran(command: click.Command, *words: object) -> Result:
    """Run a command with these words; what it does not expect is in the result."""
    return CliRunner().invoke(command, [str(word) for word in words])


def mas(*words: object) -> Result:
    """Run `mas` with these words."""
    return ran(main, *words)
