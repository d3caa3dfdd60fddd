"""`mas show`: a run, as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...schema.command import Command
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean
from ...schema.values.json_text import dumps
from ..otel import otel_options
from ..values.terminal import speakable_json

__all__ = ["main"]


@click.command(cls=Command)
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("words", metavar="[TASK] [NUMBER]", nargs=-1)
@click.option("--agent", metavar="NAME", help="Show the part of this agent alone.")
@click.option("--full", is_flag=True, help="Show every text whole, however long it is.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, with every text whole.")
@otel_options
def main(
    folder: Path,
    words: tuple[str, ...],
    agent: str | None,
    *,
    full: bool,
    as_json: bool,
    **traces: Any,
) -> None:
    """Show what happened in a run: who was asked what, what each answered, and what it cost.

    RUN is the folder of a run, of one that is under way or was killed, too. Of an evolution
    (POOL/evolutions/NAME) TASK is the id of a task and NUMBER a candidate that was tried on it; of
    an evaluation (results/...) NUMBER is a trial. Nothing is asked and nothing is changed. With
    --otel, what was recorded of a run is also sent as a trace.
    """
    from ..otel import exporting
    from ..record.events import checked
    from ..showing.viewed import viewed

    found = viewed(folder, words)
    agents = checked(str(folder), lambda: [*found.agents])
    if agent is not None and agent not in agents:
        raise InputError(f"no agent {agent!r} in {folder}.{did_you_mean(agent, agents)}")
    with exporting(traces) as telemetry:
        if telemetry is not None:
            from ..otel.recorded import export

            checked(str(folder), lambda: export(telemetry, found, folder))
    if as_json:
        value = checked(str(folder), lambda: found.value(agent=agent))
        click.echo(speakable_json(dumps(value, indent=2, ensure_ascii=False)))
    else:
        text = checked(str(folder), lambda: found.written(agent=agent, full=full))
        click.echo(text, nl=False)
