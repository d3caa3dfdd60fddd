"""`mas-pool merge` and `git`: merges two copies of a pool."""

from __future__ import annotations

from pathlib import Path

import click

from ...schema.command import Command
from ...schema.values.errors import InputError
from ...schema.values.terminal import counted, on_one_line
from .arguments import pool_folder, tell

OF_DRIVER = 4
OF_POOLS = 2


@click.command("merge", cls=Command)
@click.argument("paths", metavar="POOL OTHER", nargs=-1, required=True)
@click.option(
    "--into",
    "target",
    metavar="NEW",
    type=click.Path(path_type=Path),
    help="Write the merged pool to this folder, and leave both unchanged.",
)
@click.option(
    "--driver",
    "for_git",
    is_flag=True,
    help="Merge one file as git's merge driver, which mas-pool git sets up.",
)
def merge(paths: tuple[str, ...], target: Path | None, for_git: bool) -> None:
    """Merge another copy of a pool into a pool; each event counts once.

    POOL and OTHER are copies of one pool that have diverged: folders, branches or clones. Teams,
    agents, trials, lessons and evolutions keep their names. OTHER stays unchanged, and the order of
    the two makes no difference. If they contradict each other, prints the contradictions and
    changes nothing. To take teams from an unrelated pool, use mas-pool import.
    """
    if for_git:
        _merge_file(paths, target)
        return
    if len(paths) != OF_POOLS:
        raise InputError(f"expected two pools to merge, got {len(paths)}.")
    from ..git.joining import join, join_into

    first, second = map(Path, paths)
    joined = (
        join_into(target, first, second, tell=tell) if target else join(first, second, tell=tell)
    )
    for note in joined.notes:
        click.echo(f"note: {on_one_line(note)}")
    click.echo(f"{target or first}: {counted(joined.lines, 'line')}, {joined.new} of them new")


def _merge_file(paths: tuple[str, ...], target: Path | None) -> None:
    if len(paths) != OF_DRIVER or target is not None:
        raise InputError(
            "expected the four paths of a merge driver: --driver %O %A %B %P. Set it up with:"
            " mas-pool git POOL."
        )
    from ..git.driver import merge_file

    base, ours, theirs, path = paths
    for note in merge_file(Path(base), Path(ours), Path(theirs), path):
        tell(f"{path}: {note}")


@click.command("git", cls=Command)
@pool_folder
def set_up_git(folder: Path) -> None:
    """Make git merge this pool by operations, in this clone of its repository.

    Writes this clone's settings: merge.coterie.* of its config, and their files in info/attributes.
    Clones without these settings merge lines, as the pool's .gitattributes says.
    """
    from ..folder.own_files import ledger_in
    from ..git.driver import DRIVER, set_up

    ledger_in(folder)
    top, path = set_up(folder)
    click.echo(f"{top}: branches of {folder} are merged with: {DRIVER}")
    click.echo(f"{path}: names the files for it")
