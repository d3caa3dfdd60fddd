"""Shows a command's results as pages, in a process of its own.

So rendering pages never delays the command's work, and costs it nothing.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import click

from ...schema.values.errors import InputError

SECONDS_TO_END = 5
"""Seconds that a viewer has to end by itself."""


@asynccontextmanager
async def viewer(folder: Path) -> AsyncGenerator[str]:
    """Show the pages of a folder during the body; they end with this process, however it ends.

    Yields:
        The address of the first page, which was printed.

    Raises:
        InputError: They cannot be shown; the reason was printed.
    """
    # In a session of its own, Ctrl-C is heard by us alone: the pages stay until we are done.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", f"{__package__}.view", "--with-parent", "--", str(folder)),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
    )
    ours, reader = process.stdin, process.stdout
    if ours is None or reader is None:
        raise RuntimeError("there are pipes because they were requested.")
    try:
        address = (await reader.readline()).decode().strip()
        if not address:
            raise InputError(f"{folder} cannot be shown. Leave out --view.")
        click.echo(f"look: {address}", err=True)
        yield address
    finally:
        ours.close()
        with suppress(ProcessLookupError):
            try:
                async with asyncio.timeout(SECONDS_TO_END):
                    await process.wait()
            except TimeoutError:
                process.kill()


async def kept_open() -> None:
    """Wait until Ctrl-C, so that the pages can be read to the end."""
    click.echo("The page stays open until you press Ctrl-C.", err=True)
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
