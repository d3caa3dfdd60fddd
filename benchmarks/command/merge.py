"""`mas-bench merge`: shards of an evaluation become one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, as_json, host_catalogue, problem_format, scorer_option
from .evaluating import new_folder, shown_figures, words_typed
from .options import RESULTS_FOLDER, results_parent, verdict


@click.command("merge", cls=Command)
@click.argument("folders", nargs=-1, required=True, metavar="SHARD...", type=RESULTS_FOLDER)
@results_parent
@verdict
@as_json
@scorer_option
@problem_format
def merge(folders: Sequence[Path], parent: Path, **options: Any) -> None:
    """Merge the folders of results of `mas-bench run --shard` into one.

    Name every shard once. The figures are computed anew from all samples, as if one evaluation had
    made them. The benchmark's files must be here; the shards stay unchanged. `mas-bench resume`
    makes trials that a shard missed, in the merged folder.
    """
    from ...schema.values.secrets import scrubbed
    from ..comparison.merging import ShardMerge

    merging = ShardMerge.of(
        folders, scrub=scrubbed, catalogue=host_catalogue(scorer=options["scorer"])
    )
    first = merging.shards[0]
    team = str(first.head["team"]).replace(", ", "-")
    folder = new_folder(parent, first.request.benchmark, team)
    merging.into(folder, command=words_typed())
    click.echo(str(folder.path), err=True)
    how = f" Resume: mas-bench resume {folder.path}"
    sys.exit(shown_figures(folder.path, how, options))
