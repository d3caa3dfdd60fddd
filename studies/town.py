"""How large a population's folder becomes, and what its history shows of ten tasks.

    python -m studies.town FOLDER

Works on the tasks of one world of `studies.chamber` in a new folder, a git repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.runtime.repository.git import git
from coterie.schema.command import Command

from .chamber import STUDY
from .world.trials import DRAWN, NAME, Job, work_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MEGABYTE = 1_000_000
EVERY = 10


def grown(folder: Path, tasks: int) -> Iterator[str]:
    """Work on a stream in a git repository, and tell how the folder of the pool grows.

    The evolution's own folder, with its journal, is not committed.

    Args:
        folder: A folder that is not there yet.
        tasks: How many tasks.
    """
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / ".gitignore").write_text("pool/evolutions/\npool/memory/.cache/\n", encoding="utf-8")
    done = 0

    def on_episode(_line: Mapping[str, Any]) -> None:
        nonlocal done
        done += 1
        if done % EVERY == 0 or done == tasks:
            _commit(folder, f"Work on task {done}", f"task-{done}")

    work_in(
        folder,
        Job(study=STUDY.name, world=DRAWN, row=STUDY.rows[0].name, seed=0, tasks=tasks),
        on_episode,
    )
    pool = folder / "pool"
    evolution = _size(pool / "evolutions" / NAME)
    cache = _size(pool / "memory" / ".cache")
    yield "| after so many tasks | MB |"
    yield "|---|---|"
    yield f"| the pool, as committed | {(_size(pool) - evolution - cache) / MEGABYTE:.2f} |"
    yield f"| the evolution's journal and lines | {evolution / MEGABYTE:.2f} |"
    yield f"| the cache of vectors, which may be deleted | {cache / MEGABYTE:.2f} |"
    yield f"| the history, in git | {_size(folder / '.git') / MEGABYTE:.2f} |"
    half = tasks // (2 * EVERY) * EVERY
    yield ""
    yield git(folder, "diff", "--stat", f"task-{half}", f"task-{half + EVERY}").rstrip()


def _size(folder: Path) -> int:
    """Count the bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _commit(folder: Path, message: str, tag: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    git(folder, "tag", tag)


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--tasks", type=click.IntRange(min=20), default=400, show_default=True)
def main(folder: Path, tasks: int) -> None:
    """Work on a stream in a new FOLDER, a git repository; print how it grows."""
    click.echo("\n".join(grown(folder, tasks)))


if __name__ == "__main__":
    main()
