"""`mas-bench merge`: shards of an evaluation become one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, host_catalogue, problem_format, scorer_option
from .evaluating import new_folder, shown_figures, words_typed
from .options import RESULTS_FOLDER, as_json, results_parent, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["merge"]


@click.command("merge", cls=Command)
@click.argument("folders", nargs=-1, required=True, metavar="SHARD...", type=RESULTS_FOLDER)
@results_parent
@verdict
@as_json
@scorer_option
@problem_format
def merge(folders: Sequence[Path], parent: Path, **options: Any) -> None:
    """Make one folder of results of those that `mas-bench run --shard` made.

    Every shard is needed, once. Figures are those that one evaluation of everything would have
    come to: they are computed anew from all samples. The benchmark's files must be at hand; the
    shards are left as they are. Trials that a shard could not make, `mas-bench resume` makes in
    the merged folder.
    """
    from ...schema.values.secrets import scrubbed
    from ..comparison.merging import Merging

    merging = Merging.of(folders, scrub=scrubbed, known=host_catalogue(scorer=options["scorer"]))
    first = merging.shards[0]
    team = str(first.head["team"]).replace(", ", "-")
    folder = new_folder(parent, first.request.benchmark, team)
    merging.into(folder, command=words_typed())
    click.echo(str(folder.path), err=True)
    how = f" Go on with: mas-bench resume {folder.path}"
    sys.exit(shown_figures(folder.path, how, options))
