"""`python -m studies.whoandwhen`: attributes the published failures, and judges that."""

from __future__ import annotations

import sys
import threading
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import click

from coterie.benchmarks.command.options import workers
from coterie.benchmarks.comparison.tables import Format, written
from coterie.operators.command.arguments import OperatorHost, model_options, setting_options
from coterie.runtime.command.signals import stopped_in_order
from coterie.runtime.command.spending import at_once
from coterie.runtime.doubles import ScriptedModel
from coterie.schema.command import Command, Family, catalogue_of
from coterie.schema.values.errors import InputError
from coterie.schema.values.json_text import dumps
from coterie.schema.values.terminal import speakable

from .figures import NAMES, by_length, by_source, costs, length_of
from .judges import JUDGES, Judge
from .methods import METHODS
from .published import HOW_TO_GET, SOURCES, digest_of, read_folder, revision_of, spread
from .quirks import QUIRKS, having
from .reference import drawn, figures_here, figures_there
from .results import Setting, read_lines, read_together
from .working import Working, model_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .published import Labelled

MOST_LISTED = 10
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_data = click.option(
    "--data", type=_FOLDER, help=f"The folder with the traces. To get them, {HOW_TO_GET}."
)
_other = click.option(
    "--other-traces",
    is_flag=True,
    help="Take traces of the same form that are not the published ones.",
)
_TABLES: dict[str, Callable[..., list[dict[str, str]]]] = {
    "source": by_source,
    "length": by_length,
    "cost": costs,
}
_form = click.option(
    "--as",
    "form",
    type=click.Choice(get_args(Format)),
    default="markdown",
    show_default=True,
    help="How tables are written.",
)


@click.group(cls=Family)
def main() -> None:
    """Who failed, and when: attribution methods on 184 published failures of teams."""


@main.command(cls=Command)
@_data
@_other
@click.option(
    "--method",
    "methods",
    type=click.Choice([*METHODS]),
    multiple=True,
    help="May be given several times.  [default: all]",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder for what comes of it. The same command goes on where it was interrupted.",
)
@click.option(
    "--without-answer", is_flag=True, help="Do not show the right answers. The original has both."
)
@click.option(
    "--view",
    type=click.IntRange(min=200),
    metavar="CHARACTERS",
    help="How much of a trace's steps one question shows.  [default: by the model's size]",
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="Take only so many traces, spread over all."
)
@workers
@click.option(
    "--allow-unpriced", is_flag=True, help="With usd=: also call models whose price is unknown."
)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@_form
@model_options
@setting_options
def run(data: Path | None, *, other_traces: bool, out: Path, **options: Any) -> None:
    """Let methods blame somebody in each trace, and print what they are worth.

    A trace on which a method blames nobody counts as wrong. One that the provider failed has no
    verdict: it is counted apart, and made again by the same command.
    """
    everything = _published(data, other=other_traces)
    host = OperatorHost.of(options, catalogue_of(options))
    setting = Setting(
        traces=revision_of(everything) or digest_of(everything),
        model=model_of(host).model,
        with_answer=not options["without_answer"],
        view=options["view"],
        seed=options["seed"],
    )
    working = Working(
        everything=everything,
        labels=spread(everything, options["limit"]),
        methods=tuple(dict.fromkeys(options["methods"])) or tuple(METHODS),
        setting=setting,
        host=host,
        folder=out,
        workers=at_once(options["workers"], batch=False),
        allow_unpriced=options["allow_unpriced"],
        quiet=options["quiet"],
    )
    code = stopped_in_order(working.to_the_end)
    _print(read_lines(out), options["form"])
    sys.exit(code)


@main.command(cls=Command)
@click.argument("folders", metavar="FOLDER...", type=_FOLDER, nargs=-1, required=True)
@click.option("--by", type=click.Choice([*_TABLES]), multiple=True, help="[default: all]")
@_form
@click.option("--json", "as_json", is_flag=True, help="Print the rows of all tables as JSON.")
def table(folders: tuple[Path, ...], by: tuple[str, ...], form: Format, *, as_json: bool) -> None:
    """Print the tables of each FOLDER that `run` has filled, together; no model is asked."""
    lines = read_together(folders)
    if as_json:
        chosen = by or tuple(_TABLES)
        click.echo(dumps({name: _TABLES[name](lines) for name in chosen}, indent=2))
    else:
        _print(lines, form, by)


@main.command("data", cls=Command)
@_data
@_other
def show_data(data: Path | None, *, other_traces: bool) -> None:
    """Print what is in the traces: how many, how long, and what is odd about them."""
    labels = _published(data, other=other_traces)
    click.echo(f"revision: {revision_of(labels) or 'none that was published'}")
    click.echo(f"\n{written([_described(labels, source) for source in SOURCES], 'markdown')}")
    rows = [_found(quirk, having(labels, quirk)) for quirk in QUIRKS]
    click.echo(f"\n{written(rows, 'markdown')}")


@main.command(cls=Command)
@_data
@_other
@click.option("--judge", type=click.Choice([*JUDGES]), default="labels", show_default=True)
@click.option("--port", default=0, help="0 takes a free one.")
def serve(data: Path | None, *, other_traces: bool, judge: str, port: int) -> None:
    """Serve a judge that answers from a script: it knows the traces and their labels."""
    labels = _published(data, other=other_traces)
    try:
        with ScriptedModel(Judge(labels, JUDGES[judge]), port=port) as model:
            click.echo(f"--model default={judge}@{model.api_base}")
            threading.Event().wait()
    except OSError as error:
        raise InputError(
            f"port {port} cannot be used: {error.strerror}. Leave --port out to get a free one."
        ) from error


@main.command(cls=Command)
@click.argument("clone", type=_FOLDER)
@click.option("--logs", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of what is made up.")
def verify(clone: Path, logs: int, seed: int) -> None:
    """Compare the original's verdict as it is here with its own program, on made-up predictions.

    CLONE is the original's repository. Its program evaluate.py is run, with your rights.
    """
    labels = read_folder(clone)
    many = differing = 0
    with TemporaryDirectory() as folder:
        for number, source in product(range(logs), SOURCES):
            of = [label for label in labels if label.source == source]
            fields = drawn(of, Random(f"{seed}/{number}/{source}"))  # noqa: S311 - not for secrets
            here = figures_here(of, fields)
            there = figures_there(clone, source, fields, Path(folder) / "log.txt")
            many += len(fields)
            differing += here != there
            if here != there:
                click.echo(f"log {number} of {source}: here {here}, there {there}")
    logged = logs * len(SOURCES)
    click.echo(f"{many} predictions in {logged} logs: {differing} with another figure")
    sys.exit(1 if differing else 0)


def _published(data: Path | None, *, other: bool) -> Sequence[Labelled]:
    """Read the traces, and make sure that they are the published ones.

    Raises:
        InputError: They are not there, or are others.
    """
    labels = read_folder(data)
    if not other and revision_of(labels) is None:
        raise InputError(
            f"the {len(labels)} traces in {str(data)!r} are not those of Who & When: their digest"
            f" is {digest_of(labels)}. Figures on others cannot be compared; --other-traces takes"
            f" them all the same. To get the published ones, {HOW_TO_GET}."
        )
    return labels


def _print(lines: Sequence[dict[str, Any]], form: Format, by: Sequence[str] = ()) -> None:
    tables = [written(_TABLES[name](lines), form) for name in by or _TABLES]
    click.echo(speakable("\n\n".join(tables)))


def _described(labels: Sequence[Labelled], source: str) -> dict[str, str]:
    """Return how many traces a source has, and how long they are."""
    of = [label for label in labels if label.source == source]
    steps, agents = (
        [len(getattr(labelled, what)) for labelled in of] for what in ("history", "agents")
    )
    return {
        "source": source,
        "traces": str(len(of)),
        "steps": _range(steps),
        "agents": _range(agents),
        "characters": _range([labelled.characters for labelled in of]),
        **{
            name: str(sum(length_of(labelled.characters) == name for labelled in of))
            for name in NAMES
        },
    }


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts):,} to {max(counts):,}, {sum(counts):,} in all" if counts else ""


def _found(quirk: str, labels: Sequence[Labelled]) -> dict[str, str]:
    of = (sum(label.source == source for label in labels) for source in SOURCES)
    counts = dict(zip(SOURCES, map(str, of), strict=True))
    listed = ", ".join(label.id for label in labels) if len(labels) <= MOST_LISTED else ""
    return {"what is odd": quirk, **counts, "which": listed}


if __name__ == "__main__":
    main()
