"""`mas dev seeds`: the teams that come with coterie."""

from __future__ import annotations

import textwrap

import click

from ..host.catalogue import SEED
from ..loading.loading import read_team
from ..loading.seeds import seed_files
from ..team.team import Team
from ..team.words import one_line, totals
from ..values.json_text import dumps
from . import Command, as_json

WIDTH = 100


@click.command(cls=Command)
@as_json
def main(*, as_json: bool) -> None:
    """List the teams that come with coterie, with their size, purpose and source.

    Use seed:NAME wherever a command takes a team: `mas-run seed:debate task.json`,
    `mas dev graph seed:debate`. `mas init --from seed:NAME` makes a copy to change.
    """
    teams = {f"{SEED}{name}": read_team(file) for name, file in seed_files().items()}
    if as_json:
        click.echo(dumps([_value(name, team) for name, team in teams.items()], indent=2))
    else:
        click.echo("\n\n".join(_describe(name, team) for name, team in teams.items()))


def _value(name: str, team: Team) -> dict[str, object]:
    return {"name": name, "agents": len(team.agents), "description": one_line(team.description)}


def _describe(name: str, team: Team) -> str:
    text = textwrap.indent(textwrap.fill(one_line(team.description), WIDTH - 4), "    ")
    return f"{name} · {totals(team)}\n{text}"
