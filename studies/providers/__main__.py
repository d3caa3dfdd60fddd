"""Tries every provider's double and prints the table of docs/research/what-works.md.

python -m studies.providers [--backends | --whole | --sources] [--markdown]
"""

from __future__ import annotations

import asyncio
import sys

import click

from coterie.schema.command import Command

from ..doubles import PROVIDERS
from .agents import backends_judged
from .table import judged, markdown, plain, sources, wrong


@click.command(cls=Command)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a table of Markdown.")
@click.option("--backends", is_flag=True, help="Try whole agents of each kind, in their loops.")
@click.option("--whole", is_flag=True, help="Ask for whole answers, not for streams.")
@click.option("--sources", "only_sources", is_flag=True, help="Print where the forms are from.")
def main(*, as_markdown: bool, backends: bool, whole: bool, only_sources: bool) -> None:
    """Try what works with which provider, against doubles that answer as they do.

    Exit code 1 where a cell is wrong.
    """
    if only_sources:
        click.echo(sources(PROVIDERS))
        return
    table = asyncio.run(
        backends_judged(PROVIDERS) if backends else judged(PROVIDERS, stream=not whole)
    )
    click.echo(markdown(table) if as_markdown else plain(table))
    lines = [*wrong(table)]
    for line in lines:
        click.echo(line, err=True)
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
