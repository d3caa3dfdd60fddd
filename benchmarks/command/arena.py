"""`mas-bench arena`: compares methods on streams, with the same cap for each cell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ...runtime.command.spending import unbudgeted_options
from ...schema.command import Command, as_json, catalogue_of, host_options, problem_format
from ...schema.values.json_text import dumps
from ...schema.values.part import Part
from ...schema.values.terminal import speakable


@click.command("arena", cls=Command)
@click.argument("path", metavar="ARENA", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--results",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for results.  [default: results/NAME]",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1, max=1_000),
    default=1,
    show_default=True,
    help="How many cells to work on at the same time.",
)
@click.option("--shard", metavar="K/N", help="Work on only the K-th of N parts of the cells.")
@click.option("--limit", type=click.IntRange(min=1), help="Work on only the first N open cells.")
@click.option("--plan", is_flag=True, help="Estimate the cost of the open cells, and stop.")
@click.option("--embedder", help="The embedder: minilm, hashing, or a model's alias.")
@unbudgeted_options
@as_json
@host_options
@problem_format
def arena(path: Path, folder: Path | None, **options: Any) -> None:
    """Compare methods of evolution on streams of tasks, each cell under the same cap.

    ARENA is a YAML file (`mas dev explain arena`). A cell is a method on a stream with a random
    seed. It learns from some tasks within the cap, is frozen, and is tested on others that share no
    question, beside its control without what was learnt. mas-view RESULTS shows the table, which is
    also in arena.json, table.md and table.csv.

    The same command resumes; nothing is paid twice. Several processes may share the folder, each
    with a --shard of its own.
    """
    from ...runtime.command.signals import same_command, to_the_end
    from ..arena.cells import cells_of
    from ..arena.declared import load_arena
    from ..arena.tables import table
    from ..arena.working import Working
    from ..comparison.tables import written

    catalogue = catalogue_of(options)
    folder = folder or Path("results") / path.stem
    loaded = load_arena(path, catalogue, folder / "teams")
    cells = [*cells_of(loaded, folder)]
    own = Part.read(options["shard"], "--shard").take(cells) if options["shard"] else cells
    working = Working(
        cells=cells,
        own=own,
        folder=folder,
        catalogue=catalogue,
        options=options,
        jobs=options["jobs"],
    )
    working.check()
    if options["plan"]:
        click.echo(speakable(working.plan()))
        return
    if options["limit"]:
        working.own = working.open[: options["limit"]]
    code = to_the_end(working.work(), same_command)
    value = working.write()
    text = dumps(value, indent=2) if options["as_json"] else written(table(value), "markdown")
    click.echo(speakable(text))
    sys.exit(code)
