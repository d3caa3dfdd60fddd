"""`mas dev papers`: the rows of papers' tables as recipes."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ...schema.command import Command, host_catalogue
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.terminal import counted, speakable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema.host.catalogue import Catalogue
    from ..papers import PaperRun, PaperStream

PARENT = Path("runs") / "papers"
PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.command("papers", cls=Command, context_settings=PASSED_ON)
@click.argument("address", metavar="[PAPER[:TABLE[/ROW[/COLUMN]]]]", required=False)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the data files; --dry-run lists them.",
)
@click.option(
    "--write",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write recipe, teams, models and, with --data, tasks to this folder, and stop.",
)
@click.option("--dry-run", is_flag=True, help="Check the rows, print what would be done, and stop.")
@click.pass_context
def papers(
    ctx: click.Context,
    address: str | None,
    data: Path | None,
    folder: Path | None,
    *,
    dry_run: bool,
) -> None:
    """List the tables of the papers, or run a row as a recipe.

    Without an address the papers are listed, and with a paper or a table its rows, with the
    published figures. mas-evolve runs a row on the data of the paper, in runs/papers. A column,
    such as one data set, narrows it; in the place of the row, it means the paper's own method. All
    other options are mas-evolve's, such as --budget, --limit and --model.
    """
    from ..papers import listing, runs_at
    from ..papers.addresses import Address

    place = Address.read(address) if address else None
    if place is None or not (place.row or dry_run or folder):
        click.echo(speakable(listing(place)))
        return
    runs = runs_at(place)
    _refuse_unknown(ctx.args)
    if folder is not None:
        _write(runs, data, folder, ctx.args)
    elif dry_run:
        right = set[tuple[str, ...]]()
        for run in runs:
            if missing := _check(run, data, ctx.args, right):
                how = (
                    missing
                    if len(runs) == 1
                    else "Check this row alone to see how to get its data."
                )
                click.echo(speakable(f"  the recipe is valid; its data is missing. {how}"))
        click.echo(f"{counted(len(runs), 'recipe')} checked; nothing was written or spent")
    else:
        _run(_the_only(runs), data, ctx.args)


def _refuse_unknown(options: Sequence[str]) -> None:
    """Refuse options that `mas-evolve` does not have, even if it will not run."""
    from ...operators.command.evolve import main

    main.make_context("mas-evolve", ["recipe", "tasks", *options])


def _the_only(runs: Sequence[PaperRun]) -> PaperRun:
    if len(runs) > 1:
        addresses = ", ".join(run.address for run in runs)
        raise InputError(f"expected one run, got {len(runs)}. Choose one: {addresses}.")
    return runs[0]


def _write(runs: Sequence[PaperRun], data: Path | None, folder: Path, more: Sequence[str]) -> None:
    from ..papers import expansion_of

    for run in runs:
        within = folder if len(runs) == 1 else folder / run.place
        expansion = expansion_of(run)
        stream, missing = _stream_there(run, data)
        expansion.write(within, stream)
        command = shlex.join(["mas-evolve", *expansion.words(within, stream), *more])
        click.echo(speakable(f"{within}: {command}"))
        if stream is None:
            click.echo(speakable(f"  its tasks are missing. {missing}"))


def _check(
    run: PaperRun, data: Path | None, more: Sequence[str], right: set[tuple[str, ...]]
) -> str:
    """Check a run as far as its data is available, and describe the planned work.

    Args:
        more: Options of `mas-evolve`.
        right: Recipes that passed the check; only their models are checked again.

    Returns:
        How to get the data, if it is missing.
    """
    from ..papers import expansion_of
    from ..papers.expansion import MODELS, published

    expansion = expansion_of(run)
    stream, missing = _stream_there(run, data)
    click.echo(speakable(f"{run.address}: {run.method['about']} {published(run)}"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        expansion.write(folder, stream)
        if stream is not None:
            _evolve([*expansion.words(folder, stream), *more, "--dry-run"])
            return ""
        catalogue = host_catalogue(models_file=folder / MODELS)
        if expansion.essence not in right:
            _check_recipe(folder, catalogue)
            right.add(expansion.essence)
    return missing


def _check_recipe(folder: Path, catalogue: Catalogue) -> None:
    from ...operators.command.starting import prepare_start
    from ...runtime.plan.plan import compile
    from ...schema.loading.recipe import load_recipe
    from ..papers.expansion import RECIPE

    start = prepare_start(
        recipe_file=folder / RECIPE,
        recipe=load_recipe(folder / RECIPE),
        tasks=[],
        pool_folder=folder / "pool",
        host=catalogue,
        embedder="hashing",
    )
    for team in start.teams:
        compile(team, start.catalogue)


def _stream_there(run: PaperRun, data: Path | None) -> tuple[PaperStream | None, str]:
    """Read the tasks of a run if available, or say how to get them; download nothing."""
    from ..papers import stream_of
    from ..papers.streams import is_generated, ways_to_get

    if data is None and not is_generated(run):
        return None, ways_to_get(run)
    try:
        return stream_of(run, data), ""
    except ConfigError:  # it is there, and wrong
        raise
    except InputError as error:
        return None, str(error)


def _run(run: PaperRun, data: Path | None, more: Sequence[str]) -> None:
    from ..papers import expansion_of, stream_of
    from ..papers.expansion import published
    from ..papers.streams import prepare

    expansion, folder = expansion_of(run), PARENT / run.place
    stream = stream_of(run, data)
    prepare(run, data, stream)
    expansion.write(folder, stream)
    click.echo(speakable(f"{run.address}: {published(run)}"), err=True)
    _evolve([*expansion.words(folder, stream), *more])


def _evolve(words: Sequence[str]) -> None:
    """Run mas-evolve; its exit code is the command's, unless it is 0."""
    from ...operators.command.evolve import main

    try:
        with main.make_context("mas-evolve", [*words]) as ctx:
            main.invoke(ctx)
    except SystemExit as ended:
        if ended.code:
            raise
