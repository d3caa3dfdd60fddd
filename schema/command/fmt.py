"""`mas-fmt`: team files in canonical form."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import ConfigError, InputError
from ..loading import read_file, shape_only
from ..terminal import speakable
from ..writing import canonical, schema_beside
from ..yaml_text import read_yaml
from . import Command, problem_format

__all__ = ["main"]


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; end with 1 where a file would change.")
@problem_format
def main(files: tuple[Path, ...], check: bool, problem_format: str) -> None:
    """Write team files in canonical form: one order of fields, one style, comments kept.

    A file that does not load stays as it is.
    """
    del problem_format
    changed = [file for file in files if _format(file, check=check)]
    for file in changed:
        click.echo(f"{speakable(str(file))}: {'not canonical' if check else 'written'}")
    if check and changed:
        raise click.exceptions.Exit(1)


def _format(file: Path, *, check: bool) -> bool:
    """Bring a file into canonical form; tell whether it was not."""
    content = read_file(file)
    document, problems = shape_only(*read_yaml(content, str(file)), "team")
    if problems:
        raise ConfigError(problems)
    before = content.decode("utf-8-sig")
    after = canonical(document, before, schema=schema_beside(file))
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
