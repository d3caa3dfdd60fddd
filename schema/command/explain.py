"""`mas dev explain`: the meaning of a field of a file."""

from __future__ import annotations

import click

from ..checking._shape import schema_text
from ..explain.explanation import explain, outline
from ..explain.reference import reference
from ..host.fields import DOCUMENTS
from ..loading.seeds import is_seed
from ..values.errors import InputError
from . import Command


@click.command(cls=Command)
@click.argument("path", required=False)
@click.option(
    "--schema",
    "schema_of",
    type=click.Choice([*DOCUMENTS, "agent"]),
    help="Print a JSON Schema instead, for instance for an editor.",
)
@click.option(
    "--markdown",
    "page_of",
    type=click.Choice(DOCUMENTS),
    help="Print a page of the reference instead, as Markdown.",
)
def main(path: str | None, schema_of: str | None, page_of: str | None) -> None:
    """Explain a field: its meaning, its values, its default and an example.

    PATH is a field as a message shows it, or shorter: agents.w2.max_tokens, agents.max_tokens,
    execution, task.scorer. For a field of an agent file, write agent.notes. Without PATH, prints
    all fields of all files as a tree.
    """
    if sum(choice is not None for choice in (path, schema_of, page_of)) > 1:
        raise click.UsageError("give only one of PATH, --schema and --markdown.")
    if path and is_seed(path):
        raise InputError(
            f"{path} is a team, but this command explains fields. `mas dev seeds` describes the"
            f" team, `mas dev graph {path}` draws it."
        )
    if schema_of:
        click.echo(schema_text(schema_of), nl=False)
    elif page_of:
        click.echo(reference(page_of), nl=False)
    else:
        click.echo(explain(path) if path else outline(), nl=False)
