"""Reading what another program wrote, and making a team of it that loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loading.loading import hostless_team, read_file, shape_only
from ..loading.recognition import (
    AGENTS_FILE,
    CREWAI,
    DOCKER_AGENT,
    TASKS_FILE,
    crew_folder,
    program_of,
)
from ..team.writing import dump, write_yaml
from ..values.errors import ConfigError, InputError
from ..values.yaml_text import read_yaml
from .crewai import crew_team
from .docker_agent import docker_agent_team

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..values.document import Document
    from .source import Imported

__all__ = ["models_text", "take_over"]

SUPPORTED = f"{CREWAI}'s {AGENTS_FILE} and {TASKS_FILE}, and the YAML of {DOCKER_AGENT}"
NO_NAME = ("config", "src", "")
"""Folders that are called so in every project."""


def take_over(path: Path, inputs: Mapping[str, str] | None = None) -> Imported:
    """Make a team of another program's files.

    Args:
        path: The file, or the folder of a CrewAI project.
        inputs: What placeholders of CrewAI stand for, by their names.

    Raises:
        InputError: There is no such file, it is none that is known, or its other half is missing.
        ConfigError: It cannot be read, or what comes of it does not load.
    """
    if path.is_dir():
        folder = crew_folder(path)
        if folder is None:
            raise InputError(
                f"{path}: {AGENTS_FILE} and {TASKS_FILE} of one CrewAI project are looked for here,"
                " in config/ and in src/*/config/. Name the file, or the folder with both."
            )
        imported = _crew(folder, inputs, root=path)
    else:
        document = _read(path)
        match program_of(document.value):
            case "CrewAI":
                imported = _crew(path.parent, inputs, named=path)
            case "docker-agent":
                imported = docker_agent_team(document, path.stem)
            case _:
                raise InputError(f"{path}: of no program that is known. There are {SUPPORTED}.")
    _check(imported)
    return imported


def models_text(imported: Imported) -> str:
    """Give the models.yaml that a team needs."""
    return write_yaml({"models": imported.models})


def _crew(
    folder: Path,
    inputs: Mapping[str, str] | None,
    *,
    named: Path | None = None,
    root: Path | None = None,
) -> Imported:
    files = [folder / name for name in (AGENTS_FILE, TASKS_FILE)]
    if missing := next((file for file in files if not file.is_file()), None):
        raise InputError(
            f"{named or folder}: of CrewAI, and {missing} is missing. A team is made of both files."
        )
    agents, tasks = (_read(file, None if file == named else root or folder) for file in files)
    place = folder.resolve()
    while place.name in NO_NAME and place != place.parent:
        place = place.parent
    return crew_team(agents, tasks, place.name, inputs)


def _read(path: Path, root: Path | None = None) -> Document:
    document, problems = read_yaml(read_file(path, root=root), str(path))
    if problems:
        raise ConfigError(sorted(problems))
    return document


def _check(imported: Imported) -> None:
    """Load what was made, as the file that it will be.

    Raises:
        ConfigError: It does not load: a text is too long, say, or holds a key.
    """
    hostless_team(dump(imported.team).encode(), "team.yaml")
    if imported.models:
        text = models_text(imported)
        _, problems = shape_only(*read_yaml(text.encode(), "models.yaml"), "models")
        if problems:
            raise ConfigError(problems)
