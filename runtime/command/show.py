"""The output of `mas-view --text` and `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from ...schema.host.conforming import expected
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean
from ...schema.values.json_text import dumps
from ...schema.values.terminal import speakable_json
from ...schema.values.values import Json


def show(
    folder: Path,
    words: Sequence[str],
    *,
    agent: str | None,
    full: bool,
    as_json: bool,
    otel: str | None,
) -> None:
    """Print what happened in a run, and export its trace if requested.

    Args:
        folder: A run's folder, or a folder that contains runs.
        agent: Print this agent's part only.

    Raises:
        InputError: There is no such run or agent, or a file is damaged.
    """
    from ..record.events import checked
    from ..showing.viewed import viewed
    from .spending import exporting

    recorded = viewed(folder, words)
    agents = checked(str(folder), lambda: [*recorded.agents])
    if agent is not None and agent not in agents:
        raise InputError(f"no agent {agent!r} in {folder}.{did_you_mean(agent, agents)}")
    with exporting({"otel": otel}) as telemetry:
        if telemetry is not None:
            from ..otel.recorded import export

            checked(str(folder), lambda: export(telemetry, recorded, folder))
    if as_json:
        value = checked(str(folder), lambda: recorded.value(agent=agent))
        value = expected(value, Mapping[str, Json], f"value of {type(recorded).__name__}")
        click.echo(speakable_json(dumps(value, indent=2, ensure_ascii=False)))
    else:
        text = checked(str(folder), lambda: recorded.written(agent=agent, full=full))
        text = expected(text, str, f"written of {type(recorded).__name__}")
        click.echo(text, nl=False)
