"""`mas-fmt`: team files in canonical form."""

from __future__ import annotations

from pathlib import Path

import click

from ..agent_document import AGENT, with_used
from ..errors import ConfigError, InputError
from ..loading import read_file, shape_only
from ..terminal import speakable
from ..writing import canonical, schema_beside
from ..yaml_text import read_yaml
from . import Command, problem_format
from ._files import kind_of, with_agents

__all__ = ["main"]


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; end with 1 where a file would change.")
@click.option("--inline", is_flag=True, help="Write out the agent files that a team uses.")
@problem_format
def main(files: tuple[Path, ...], check: bool, inline: bool, problem_format: str) -> None:
    """Write team and agent files in canonical form: one order of fields, one style, comments kept.

    Of an agent's folder it is agent.yaml that is written, of a folder of agents each of them. A
    file that does not load stays as it is.
    """
    del problem_format
    files = tuple(one for file in files for one in with_agents(file))
    changed = [file for file in files if _format(file, check=check, inline=inline)]
    for file in changed:
        click.echo(f"{speakable(str(file))}: {'not canonical' if check else 'written'}")
    if check and changed:
        raise click.exceptions.Exit(1)


def _format(file: Path, *, check: bool, inline: bool) -> bool:
    """Bring a file into canonical form; tell whether it was not."""
    kind = "agent" if kind_of(file) == "agent" else "team"
    file = file / AGENT if file.is_dir() else file
    content = read_file(file)
    read = read_yaml(content, str(file))
    if inline and kind == "team":
        read = with_used(*read, file.parent)
    document, problems = shape_only(*read, kind)
    if problems:
        raise ConfigError(problems)
    before = content.decode("utf-8-sig")
    schema = schema_beside(file, f"{kind}.schema.json")
    after = canonical(document, before, kind=kind, schema=schema)
    if after == before:
        return False
    if not check:
        _write(file, after)
    return True


def _write(file: Path, text: str) -> None:
    from ..files import write_atomically

    try:
        write_atomically(file, text)
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}.") from None
