"""`mas-view`: a folder as pages in a browser, or as text."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from .spending import otel_option

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ..view import Site


@click.command(cls=Command)
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.argument("words", metavar="[TASK] [NUMBER]", nargs=-1)
@click.option("--text", "as_text", is_flag=True, help="Print the text; open no browser.")
@click.option("--agent", metavar="NAME", help="Print the part of this agent alone.")
@click.option("--full", is_flag=True, help="Print all texts in full.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all texts in full.")
@otel_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all pages as one HTML file that opens offline, and exit.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Listen on this port.  [default: a free one]",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--with-parent", is_flag=True, hidden=True, help="Exit when standard input ends.")
def main(folder: Path, words: tuple[str, ...], **options: Any) -> None:
    """Look at a run, pool, evolution or evaluation in a browser, even while it runs.

    A folder of several evaluations shows them together. The pages are served to this machine alone,
    at an address with a random token, until Ctrl-C.

    --text prints a run instead: each agent's prompt, its answer, and the cost. For a pool it prints
    the report of its evolution; TASK names the evolution if there are several. For an evolution
    (POOL/evolutions/NAME), TASK is the id of a task and NUMBER a candidate that was tried on it.
    For an evaluation (results/...), NUMBER is a trial. --otel also exports the trace of a run.

    Calls no model and contacts no other host. It writes nothing but your answers to a
    Person.
    """
    printed = {name: options[name] for name in ("agent", "full", "as_json", "otel")}
    if words or options["as_text"] or any(printed.values()):
        from ..view.site import expect_folder
        from .show import show

        expect_folder(folder)
        return show(folder, words, **printed)
    from ..view import opened

    site, output = opened(folder), options["output"]
    if output is not None:
        return _write(site, folder, output)
    from .signals import to_the_end

    served = _served(
        site,
        folder,
        options["port"],
        is_opened=not options["no_browser"],
        with_parent=options["with_parent"],
    )
    sys.exit(to_the_end(served, lambda: ""))


def _write(site: Site, folder: Path, output: Path) -> None:
    from ...schema.values.files import write_atomically
    from ..view.report import report

    text = report(site, folder).encode("utf-8", "replace")
    write_atomically(output, text)
    click.echo(f"{output}: {len(text) / 1e6:.1f} MB, opens offline", err=True)


async def _served(
    site: Site, folder: Path, port: int, *, is_opened: bool, with_parent: bool
) -> int:
    async with _shown(site, folder, port=port, is_opened=is_opened) as address:
        click.echo(address)
        if with_parent:
            await _end_of_input()
        else:
            click.echo("Ctrl-C ends it.", err=True)
            await asyncio.Event().wait()
    return 0


@asynccontextmanager
async def _shown(site: Site, folder: Path, *, port: int, is_opened: bool) -> AsyncGenerator[str]:
    """Serve the pages of a folder during the body; over SSH, print how to forward them.

    Args:
        port: The port; 0 for any free one.
        is_opened: Whether to open a browser, if possible.

    Yields:
        The address of the first page.
    """
    from ..view.server import PageServer

    async with PageServer(site=site, source=folder, port=port) as server:
        if "SSH_CONNECTION" in os.environ:
            click.echo(_how_to_forward(server.port), err=True)
        elif is_opened and _has_screen():
            import webbrowser

            await asyncio.to_thread(webbrowser.open, server.address)
        yield server.address


async def _end_of_input() -> None:
    """Wait until standard input is closed by the process at its other end."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()


def _how_to_forward(port: int) -> str:
    there = os.environ["SSH_CONNECTION"].split()
    host = there[2] if len(there) > 2 else "THIS_HOST"
    return f"On your own machine: ssh -N -L {port}:127.0.0.1:{port} {host}; then open the address."


def _has_screen() -> bool:
    """Return whether a graphical browser can open; one in the terminal would take it over."""
    return sys.platform == "darwin" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())


if __name__ == "__main__":
    main()
