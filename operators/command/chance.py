"""`mas op chance`: a child that no model made, for comparison."""

from __future__ import annotations

from typing import Any

import click

from ...schema.command import Command
from ..components import MUTABLE
from .arguments import Host, known_of, policy_option, setting_options
from .children import child_options, show_child

__all__ = ["draw_child"]


@click.command("chance", cls=Command)
@click.argument("team")
@click.option("--component", type=click.Choice(MUTABLE), required=True, help="What to change.")
@click.option("--edits", type=click.IntRange(1, 100), default=1, help="The most edits.")
@child_options
@policy_option
@setting_options
def draw_child(team: str, component: Any, edits: int, **options: Any) -> None:
    """Change one component of a team at random, for comparison; no model is asked.

    The same team, component and --seed give the same child.
    """
    from ..chance import chance

    known = known_of(options)
    host = Host.of(options, known)
    [parent] = host.parents([team])
    ceiling = host.ceiling(parent.team)
    made = chance(parent.team, component, known, ceiling, seed=options["seed"] or 0, edits=edits)
    show_child(made, "", options)
