"""`mas init`: a starter folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from ..checking._shape import schema_text
from ..host.catalogue import Catalogue
from ..host.models import DEFAULT_ALIAS
from ..loading.agent_document import TEAM
from ..loading.host import OWN_MODEL, resolve_models
from ..loading.loading import read_file, read_team, team_path
from ..loading.seeds import SEEDS
from ..loading.team_folder import self_contained
from ..team.team import Team, is_prompt_id
from ..team.writing import dump, write_yaml
from ..values.errors import InputError
from ..values.files import make_folders, write_atomically
from ..values.terminal import speakable
from . import Command, note

STARTER = {
    "task.json": "task.json",
    "tasks.jsonl": "tasks.jsonl",
    ".gitignore": "gitignore",
    ".github/workflows/team.yml": "workflow.yaml",
}
"""The files that are the same for every team: their path in the folder, and their source."""

MODELS = "models.yaml"

FRIENDLY = frozenset({".gitignore"})
"""Files that a repository may have already: existing ones stay unchanged."""


@click.command(cls=Command)
@click.argument(
    "folder", metavar="[DIR]", required=False, default=".", type=click.Path(path_type=Path)
)
@click.option(
    "--from",
    "source",
    metavar="TEAM",
    help="The team to start from: seed:NAME, as `mas dev seeds` lists them, or a team file."
    "  [default: two agents]",
)
def main(folder: Path, source: str | None) -> None:
    """Start your own team: team.yaml, tasks, models.yaml, and a CI file.

    The files go to DIR, by default the current folder. No file is overwritten. Change the team as
    you like; the schema beside it lets your editor complete and check your changes.
    """
    for name in (written := begin(folder, source)):
        click.echo(speakable(str(folder / name)))
    for name in sorted(FRIENDLY - {*written}):
        note(f"{folder / name} already exists and stays unchanged.")
    there = "" if folder == Path() else f"cd {speakable(str(folder))} && "
    click.echo(f"Try it: {there}mas-run team.yaml task.json", err=True)


def begin(folder: Path, source: str | None) -> tuple[str, ...]:
    """Write a starter folder. Existing files are never overwritten.

    Args:
        folder: The folder. It is created if missing.
        source: The team: a path, or `seed:NAME`. None: a team of two agents.

    Returns:
        The files that were written, by their paths in the folder.

    Raises:
        InputError: The team does not load, or the folder has such a file already, or it is no
            folder.
        StorageError: A file cannot be written.
    """
    texts = _texts(source)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: not a folder. Name another place.")
    there = {name for name in texts if (folder / name).exists() or (folder / name).is_symlink()}
    if existing := sorted(there - FRIENDLY):
        raise InputError(
            f"{folder / existing[0]}: already exists and is not overwritten. Choose another folder."
        )
    written = tuple(name for name in texts if name not in there)
    for name in written:
        make_folders((folder / name).parent)
        write_atomically(folder / name, texts[name])
    return written


def _texts(source: str | None) -> Mapping[str, bytes | str]:
    """Return the texts of the folder by path, with the team's file last."""
    starter = SEEDS / "starter"
    return {
        **{name: read_file(starter / stored) for name, stored in STARTER.items()},
        MODELS: _models(read_file(starter / MODELS).decode()),
        "team.schema.json": schema_text("team"),
        **(_copied(source) if source is not None else {TEAM: read_file(starter / TEAM)}),
    }


def _models(embedded: str) -> str:
    """Return the models.yaml, with MAS_MODEL as `default` if set."""
    if not os.environ.get(OWN_MODEL):
        return embedded
    model = resolve_models()[DEFAULT_ALIAS]
    fields = {"model": model.model, "api_base": model.api_base, "key_env": model.key_env}
    default = {name: value for name, value in fields.items() if value}
    comments = embedded.partition("models:")[0]
    return comments + write_yaml({"models": {DEFAULT_ALIAS: default}})


def _copied(source: str) -> Mapping[str, bytes | str]:
    path = team_path(source)
    team = self_contained(read_team(path), Catalogue.of_host().beside(path.parent))
    return {**_prompts(team), TEAM: dump(team)}


def _prompts(team: Team) -> Mapping[str, bytes]:
    """Copy the prompts that come with coterie, so that users can change them."""
    named = {agent.prompt for agent in team.agents.values() if is_prompt_id(agent.prompt)}
    return {
        f"prompts/{name}.md": read_file(SEEDS / "prompts" / f"{name}.md") for name in sorted(named)
    }
