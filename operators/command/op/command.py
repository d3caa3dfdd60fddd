"""`mas dev op`: one operator at a time, on files."""

from __future__ import annotations

import click

from ....schema.command import Group
from ....schema.values.errors import InputError
from ..credit import credit_run


class _Operators(Group):
    """A group whose commands are operators, a plugin's too."""

    entries = "operators"
    summaries = {"credit": "Estimate what each agent contributed to a run's score."}  # noqa: RUF012 - no operator

    def command_of(self, name: str) -> click.Command:
        """Make an operator's command."""
        from ...core.operator import operator_of
        from .signature import command_of

        return command_of(operator_of(name))

    def summary(self, name: str) -> str:
        """Return the first sentence of what an operator says of itself."""
        from ...core.operator import operator_of

        if name in self.summaries:
            return self.summaries[name]
        try:
            return f"{operator_of(name).about.partition('. ')[0].rstrip('.')}."
        except InputError as error:
            return str(error)


@click.group("op", cls=_Operators, moved={"attribute": "mas dev blame RUN"})
def main() -> None:
    """Run one operator once, and review its proposal before anything is kept."""


main.add_command(credit_run)
