"""`mas-pool init`, `import`, `adopt`, `retire` and `restore`: a person's changes to a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from ...schema.command import Command, host_catalogue, name_options
from ...schema.loading.agent_document import is_team_folder
from ...schema.team.team import Lineage
from ...schema.values.errors import InputError
from ...schema.values.terminal import counted
from ..ledger.changes import Added, Restored, Retired
from ..ledger.state import Admission
from ..teams.pool import Pool
from .arguments import open_pool, pool_folder, tell

SEEDS = ("seed:peer_review", "seed:majority_vote", "seed:debate")
"""The initial teams for reasoning and tool use (EvoMAS Table 7)."""


@click.command("init", cls=Command)
@pool_folder
@click.argument("seeds", metavar="[TEAM]...", nargs=-1)
@click.option("--empty", is_flag=True, help="Start without a team.")
@name_options
def init(folder: Path, seeds: tuple[str, ...], empty: bool, **host: Any) -> None:
    """Make a folder a pool that begins with these teams.

    TEAM is a team file, or seed:NAME for one that comes with coterie. Without TEAM, a new pool
    begins with peer_review, majority_vote and debate. In a folder that is already a pool, it adds
    only missing teams. Later members get names that are unique over all git branches of the pool,
    so that git can merge them.
    """
    from ..teams.pool import Pool
    from ..values.layout import has_begun

    if empty and seeds:
        raise InputError(f"--empty cannot be combined with {seeds[0]!r}. Leave out one of them.")
    begins = not empty and not has_begun(folder)
    chosen = seeds or (SEEDS if begins else ())
    pool = Pool.init(folder, chosen, catalogue=host_catalogue(**host), report=tell, shared=True)
    names = ", ".join(pool.members)
    click.echo(f"{folder}: {counted(len(pool.members), 'team')}{f': {names}' if names else ''}")


@click.command("import", cls=Command)
@pool_folder
@click.argument("source")
@click.argument("names", metavar="[TEAM]...", nargs=-1)
@name_options
def add_import(folder: Path, source: str, names: tuple[str, ...], **host: Any) -> None:
    """Take teams into a pool: from another pool, or from a file.

    SOURCE is a pool, a team file, a team's folder, or seed:NAME. Of a pool, takes these TEAMs, by
    default all members, with their ancestors as retired teams, and with all their scores.
    """
    pool = open_pool(folder, catalogue=host_catalogue(**host))
    if not Path(source).is_dir() or is_team_folder(Path(source)):
        if names:
            raise InputError(f"{source!r} is a single team, so it has no {names[0]!r}.")
        _say(pool, [source], [_from_file(pool, source)])
        return
    from ..teams.exchange import import_teams

    source_pool = open_pool(Path(source))
    chosen = names or tuple(source_pool.members)
    _say(pool, chosen, import_teams(pool, source_pool, chosen))


@click.command("retire", cls=Command)
@pool_folder
@click.argument("name", metavar="NAME")
@click.option("--reason", required=True, help="The reason; the ledger keeps it.")
def retire(folder: Path, name: str, reason: str) -> None:
    """Retire a team or an agent: it is no longer used. Its file, lineage and evaluations stay."""
    pool = open_pool(folder)
    if pool.find(name).retired is None:
        pool.commit(Retired(member=name, reason=reason), op=f"retire/{uuid4().hex}")
    click.echo(f"{name}: retired")


@click.command("restore", cls=Command)
@pool_folder
@click.argument("name", metavar="NAME")
def restore(folder: Path, name: str) -> None:
    """Make a retired team or agent a member again."""
    open_pool(folder).commit(Restored(member=name), op=f"restore/{uuid4().hex}")
    click.echo(f"{name}: a member")


@click.command("adopt", cls=Command)
@pool_folder
@click.option("--reason", default="", help="The reason; the lineage shows it.")
@name_options
def adopt(folder: Path, reason: str, **host: Any) -> None:
    """Take your edits of scaffold/ into the pool as the current team; the last one retires.

    The team is checked like any other. Do not run it while an evolution works on the pool.
    """
    pool = open_pool(folder, catalogue=host_catalogue(**host))
    team, head = pool.edited_head(), pool.head
    if team is None or head is None:
        click.echo(f"{folder}: the scaffold equals the head; nothing to adopt.")
        return
    lineage = Lineage(operator="adopt", parents=(head.name,), reason=reason)
    team = replace(team, lineage=None)
    admission = pool.commit(Added(member=team, lineage=lineage), op=f"adopt/{uuid4().hex}")
    if admission.name == head.name:
        raise InputError(
            "the edits have no effect on execution: they change only the sources of notes, or the"
            " team's name. Edit a note's text, too, or undo them."
        )
    if not admission.is_new:
        pool.commit(Restored(member=admission.name), op=f"adopt/{uuid4().hex}")
    why = f"{admission.name} follows it, with your edits."
    pool.commit(Retired(member=head.name, reason=why), op=f"adopt/{uuid4().hex}")
    click.echo(f"{admission.name}: now the head")


def _from_file(pool: Pool, source: str) -> Admission:
    from ..teams.sources import load_source
    from ..values.identity import identity_of

    team = load_source(source, pool.catalogue)
    return pool.add(team, Lineage(operator="import"), op=f"import/{identity_of(team)}")


def _say(pool: Pool, names: Sequence[str], admissions: Sequence[Admission]) -> None:
    for name, admission in zip(names, admissions, strict=True):
        what = "new" if admission.is_new else "was there already"
        click.echo(f"{name}: {pool.member(admission.name).path} ({what})")
