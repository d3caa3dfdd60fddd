"""`mas dev runs`: lists, packs, shares and deletes the folders of runs."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, Family, as_json, with_options
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import aligned, counted, speakable, speakable_json, unbroken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runs.folders import KeptRun

MEGABYTE = 1_000_000
RUNS = (Path("runs"),)

_target = click.option(
    "--to",
    "target",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; it must not exist.",
)
_chosen = with_options(
    click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(path_type=Path)),
    click.option("--status", metavar="STATUS", help="Only runs with this status: done, failed, …"),
    click.option(
        "--older-than", metavar="AGE", help="Only runs older than this: 90m, 12h, 30d, 4w."
    ),
)
"""The arguments that choose runs: folders, and what `_runs` takes."""


@click.group("runs", cls=Family)
def main() -> None:
    """List the folders of runs, pack them up, share them, delete them."""


@main.command("list", cls=Command)
@_chosen
@as_json
def list_runs(folders: Sequence[Path], as_json: bool, **chosen: Any) -> None:
    """List runs, the oldest first: team, status, score, calls, cost, size.

    FOLDER is the folder of a run, or one with folders of runs; by default ./runs.
    """
    runs = _runs(folders, **chosen)
    if as_json:
        values = [
            {**asdict(run), "folder": str(run.folder), "started": run.started.isoformat()}
            for run in runs
        ]
        click.echo(speakable_json(dumps(values, indent=2)))
        return
    for line in _table(runs):
        click.echo(speakable(line))


@main.command("prune", cls=Command)
@_chosen
@click.option(
    "--keep", type=click.IntRange(0), default=0, help="Keep this many of the newest runs."
)
@click.option("--delete", is_flag=True, help="Delete the runs instead of only listing them.")
def prune(folders: Sequence[Path], keep: int, delete: bool, **chosen: Any) -> None:
    """List the runs that would be deleted, or delete them.

    Choose them by --older-than, --status or --keep. Running runs stay, and so do interrupted ones,
    which can be resumed, unless you ask for them by --status interrupted.
    """
    from ..runs.folders import INTERRUPTED, UNDER_WAY, remove

    if not (keep or any(chosen.values())):
        raise InputError("choose runs by --older-than AGE, --status STATUS or --keep NUMBER.")
    spared = {UNDER_WAY, *({INTERRUPTED} - {chosen["status"]})}
    runs = [run for run in _runs(folders, **chosen) if run.status not in spared]
    runs = runs[: max(0, len(runs) - keep)]
    for run in runs:
        if delete:
            remove(run)
        click.echo(speakable(f"{run.folder}: {'deleted' if delete else _size(run.size)}"))
    size = _size(sum(run.size for run in runs))
    hint = "" if delete or not runs else ". Delete them with: --delete"
    click.echo(f"{counted(len(runs), 'run')}, {size}{hint}", err=True)


@main.command("archive", cls=Command)
@_chosen
@_target
@click.option("--delete", is_flag=True, help="Then delete the folders.")
def archive_runs(folders: Sequence[Path], target: Path, delete: bool, **chosen: Any) -> None:
    """Pack whole runs into a .tar.gz. Unpacked, they can be resumed and replayed.

    Running runs are left out.
    """
    from ..runs.folders import UNDER_WAY, archive, remove

    runs = [run for run in _runs(folders, **chosen) if run.status != UNDER_WAY]
    if not runs:
        raise InputError("no run to pack.")
    archive(runs, target)
    for run in runs if delete else ():
        remove(run)
    size = _size(target.stat().st_size)
    click.echo(speakable(f"{target}: {counted(len(runs), 'run')}, {size}"))


@main.command("share", cls=Command)
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@_target
def share_run(folder: Path, target: Path) -> None:
    """Write a run as a .zip that others may read, with mas-view --text and mas-view.

    Removes secrets, and the names and paths of this machine, its user and servers. Leaves out the
    journal, so the copy cannot be resumed or replayed, and files that are not text. Read it before
    you share it: prompts and answers may hold anything.
    """
    from ...schema.values.secrets import secrets_of
    from ..runs.record import MANIFEST
    from ..runs.sharing import share
    from ..scrubbing.scrubber import Scrubber

    if not (folder / MANIFEST).is_file():
        raise InputError(f"{folder} is not the folder of a run.")
    left = share(folder, target, Scrubber(secrets_of(os.environ)))
    text = f"; left out: {', '.join(left)}" if left else ""
    click.echo(speakable(f"{target}: {_size(target.stat().st_size)}{text}"))


def _runs(
    folders: Sequence[Path], older_than: str | None = None, status: str | None = None
) -> list[KeptRun]:
    from ..runs.folders import age_of, kept_runs

    runs = kept_runs(folders or RUNS)
    if older_than is not None:
        latest = datetime.now(UTC) - age_of(older_than)
        runs = [run for run in runs if run.started < latest]
    return [run for run in runs if status in {None, run.status}]


def _table(runs: Sequence[KeptRun]) -> Iterable[str]:
    rows = [("started", "team", "status", "score", "calls", "cost", "size", "folder")]
    rows += [
        (
            run.started.strftime("%Y-%m-%d %H:%M"),
            unbroken(run.team),
            run.status,
            "-" if run.score is None else f"{run.score:.3f}",
            str(run.calls),
            run.cost,
            _size(run.size),
            unbroken(run.folder),
        )
        for run in runs
    ]
    yield from aligned(rows, "<" * len(rows[0]))
    yield f"{counted(len(runs), 'run')}, {_size(sum(run.size for run in runs))}"


def _size(size: int) -> str:
    """Write `12.3 MB`, or `1.2 kB`."""
    return f"{size / MEGABYTE:.1f} MB" if size >= MEGABYTE / 10 else f"{size / 1_000:.1f} kB"
