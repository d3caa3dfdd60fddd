"""`mas dev fmt`: team files in canonical form."""

from __future__ import annotations

from pathlib import Path

import click

from ..loading.agent_document import AGENT, AGENTS, TEAM, is_team_folder, with_used
from ..loading.agent_file import agent_paths
from ..loading.loading import UNASKED, read_file, read_team, shape_only, team_path
from ..loading.seeds import is_seed
from ..loading.team_folder import self_contained, write_team
from ..team.writing import canonical, dump, schema_beside
from ..values.errors import InputError, without_problems
from ..values.terminal import speakable
from ..values.yaml_text import read_yaml
from . import Command, note, problem_format
from ._files import kind_of, with_agents


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with code 1 if a file would change."
)
@click.option("--inline", is_flag=True, help="Copy the agent files that a team uses into it.")
@click.option(
    "--to-folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the team as a folder, with one or more files per agent. FILES stay unchanged.",
)
@click.option(
    "--to-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the whole team into one file. FILES stay unchanged.",
)
@problem_format
def main(
    files: tuple[Path, ...],
    *,
    check: bool,
    inline: bool,
    to_folder: Path | None,
    to_file: Path | None,
    problem_format: str,
) -> None:
    """Write team and agent files in canonical form: one order of fields, one style, comments kept.

    In an agent's folder it formats agent.yaml; in a folder of agents, each of them; in a team's
    folder, team.yaml and all of its agents. A file that does not load stays unchanged.
    """
    del problem_format
    if target := to_folder or to_file:
        if (to_folder and to_file) or check or inline or len(files) != 1:
            raise click.UsageError(
                "--to-folder and --to-file take exactly one team, and no other options."
            )
        _convert(files[0], target, as_folder=to_folder is not None)
        return
    if not check and (seeds := [file for file in files if is_seed(file)]):
        raise InputError(
            f"{seeds[0]} comes with coterie and is read-only. Write a copy:"
            f" mas dev fmt {seeds[0]} --to-file team.yaml."
        )
    files = tuple(path for file in files for path in _files_of(file))
    changed = [file for file in files if _format(file, check=check, inline=inline)]
    for file in changed:
        click.echo(f"{speakable(str(file))}: {'not canonical' if check else 'written'}")
    if check and changed:
        raise click.exceptions.Exit(1)


def _files_of(path: Path) -> tuple[Path, ...]:
    """Return the files to format at a path: a team's folder has its file and its agents."""
    if not path.is_dir() or not is_team_folder(path):
        return with_agents(path)
    agents = path / AGENTS
    return (path / TEAM, *(agent_paths(agents) if agents.is_dir() else ()))


def _convert(team_file: Path, target: Path, *, as_folder: bool) -> None:
    """Write a team as a folder or as a file, with the texts of the prompt files beside it."""
    path = team_path(team_file)
    team = self_contained(read_team(path), UNASKED.beside(path.parent))
    try:
        strangers = write_team(target, team) if as_folder else _write(target, dump(team))
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}.") from None
    click.echo(f"{speakable(str(target))}: written")
    for stranger in strangers or ():
        note(f"{target / stranger} is not part of the team and stays unchanged.")


def _format(file: Path, *, check: bool, inline: bool) -> bool:
    """Bring a file into canonical form; return whether it changed."""
    kind = "agent" if kind_of(file) == "agent" else "team"
    file = file / AGENT if file.is_dir() else file
    content = read_file(file)
    read = read_yaml(content, str(file))
    if inline and kind == "team":
        read = with_used(*read, file.parent)
    document = without_problems(*shape_only(*read, kind))
    before = content.decode("utf-8-sig")
    schema = schema_beside(file, f"{kind}.schema.json")
    after = canonical(document, before, kind=kind, schema=schema)
    if after == before:
        return False
    if not check:
        _write(file, after)
    return True


def _write(file: Path, text: str) -> None:
    from ..values.files import write_atomically

    try:
        write_atomically(file, text)
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}.") from None
