"""`mas-pool verify`: maintaining a pool's folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, as_json, host_catalogue, name_options
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, on_one_line
from .arguments import open_pool, pool_folder

FAULTY = 1


@click.command("verify", cls=Command)
@pool_folder
@click.option(
    "--repair",
    "mend",
    is_flag=True,
    help="First repair the pool from the undamaged lines. Keeps the damaged ones beside it.",
)
@click.option(
    "--delete",
    is_flag=True,
    help="Delete files under teams/ and agents/ that belong to no team or agent.",
)
@name_options
@as_json
def show_findings(folder: Path, mend: bool, delete: bool, as_json: bool, **host: Any) -> None:
    """Check a pool: each line of its ledger, and each of its files.

    Checks that every line is complete, that every team loads on this host and is the one that was
    evaluated, that parents precede their children, and that every agent's folder agrees with the
    ledger. Exits with code 1 if a check fails. Files that a crash left, or that you added, are
    reported, but are not an error; mas-pool import takes in a team written by hand.
    """
    from ..git.upkeep import repair, verify

    catalogue = host_catalogue(**host)
    repairs = repair(folder, catalogue) if mend else []
    if delete:
        repairs += [f"{name}: deleted" for name in open_pool(folder).remove_orphans()]
    findings = verify(folder, catalogue)
    if as_json:
        click.echo(dumps({"done": repairs, **asdict(findings)}, indent=2))
    else:
        for kind, texts in (
            ("done", repairs),
            ("note", findings.notes),
            ("fault", findings.faults),
        ):
            for text in texts:
                click.echo(f"{kind}: {on_one_line(text)}")
        retired = findings.teams - findings.members
        agents = f" {counted(findings.agents, 'agent')}," if findings.agents else ""
        click.echo(
            f"{folder}: {counted(findings.lines, 'line')}, {counted(findings.members, 'team')},"
            f" {retired} retired,{agents} {counted(len(findings.faults), 'fault')}"
        )
    if findings.faults:
        raise click.exceptions.Exit(FAULTY)
