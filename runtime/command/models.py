"""`mas dev models`: the file of the embedded model."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import click

from ...schema.command import Command, Family
from ...schema.values.errors import InputError
from ..local.weights import SMOLLM2, Report, find, pull, remove, weights_dir

STAGES = MappingProxyType(
    {
        "wait": "waiting for another process that is fetching it",
        "fetch": "fetching",
        "convert": "converting to 8 bits",
    }
)


@click.group("models", cls=Family)
def main() -> None:
    """Manage the model that runs on this machine without a key.

    It is fetched at its first use; `pull` does it beforehand. Model files of yours need no
    management: --model default=local:/path/to/model.gguf.
    """


@main.command("list", cls=Command)
def list_models() -> None:
    """Show the known models, their size and licence, and whether they are installed."""
    path = find()
    state = f"ready: {path}" if path else f"not installed; would be stored in {weights_dir()}"
    click.echo(f"{SMOLLM2.name}  {_megabytes(SMOLLM2.bytes)}  {SMOLLM2.licence}  {state}")


@main.command("pull", cls=Command)
def pull_model() -> None:
    """Fetch the embedded model, unless it is here already. Prints its path."""
    click.echo(pull_with_progress())


@main.command("path", cls=Command)
def print_path() -> None:
    """Print the path of the embedded model's file. Exits with code 2 if it does not exist."""
    path = find()
    if path is None:
        raise InputError(
            f"model {SMOLLM2.name} is not in {str(weights_dir())!r}. Run: mas dev models pull"
        )
    click.echo(path)


@main.command("rm", cls=Command)
def remove_model() -> None:
    """Delete the embedded model's file. The next use fetches it again."""
    path = weights_dir() / SMOLLM2.file_name
    click.echo(f"removed {path}" if remove() else f"nothing to remove: {path} does not exist")


def pull_with_progress() -> Path:
    """Fetch the embedded model unless it is here, with progress on stderr."""
    path = find()
    if path is not None:
        return path
    # What was fetched in part is removed, so Ctrl-C has to come as an exception here.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with _bar() if sys.stderr.isatty() else _lines() as report:
            return pull(report)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar() -> Generator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID

    columns = ("{task.description}", BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, size: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(f"{SMOLLM2.name}: {STAGES[stage]}")
            # Without a total the bar moves to and fro: work is done, but nothing is written yet.
            bar.update(tasks[stage], completed=size, total=total if size else None)

        yield report


@contextmanager
def _lines() -> Generator[Report]:
    texts: set[str] = set()

    def report(stage: str, count: int, total: int) -> None:
        del count
        if stage not in texts:
            texts.add(stage)
            size = f" ({_megabytes(total)})" if total else ""
            click.echo(f"{SMOLLM2.name}: {STAGES[stage]}{size}", err=True)

    yield report


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
