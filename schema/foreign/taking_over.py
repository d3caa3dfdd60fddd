"""Converts files of other programs to a team that loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..loading.loading import hostless_team, read_file, shape_only
from ..loading.recognition import (
    AGENTS_FILE,
    CREWAI,
    DOCKER_AGENT,
    TASKS_FILE,
    crew_files,
    crew_folders,
    program_of,
)
from ..team.writing import dump, write_yaml
from ..values.document import Document
from ..values.errors import ConfigError, InputError, without_problems
from ..values.problems import quoted
from ..values.values import is_mapping
from ..values.yaml_text import read_yaml
from .crewai import crew_team
from .docker_agent import docker_agent_team
from .source import Imported

SUPPORTED = f"{CREWAI}'s {AGENTS_FILE} and {TASKS_FILE}, and the YAML of {DOCKER_AGENT}"
NO_NAME = ("config", "src", "")
"""Common folder names that do not identify a project."""


def take_over(
    path: Path,
    inputs: Mapping[str, str] | None = None,
    listed: Mapping[str, Sequence[str]] | None = None,
) -> Imported:
    """Convert another program's files to a team.

    Args:
        path: The file, or the folder of a CrewAI project.
        inputs: The values of CrewAI's placeholders, by name.
        listed: The tools of the servers in the user's tools.yaml, by server name; None if there is
            no such file yet.

    Raises:
        InputError: The file does not exist, has an unknown format, or its other half is missing.
        ConfigError: It cannot be read, or the resulting team does not load.
    """
    if path.is_dir():
        imported = _crew(_crew_folder(path), inputs, root=path)
    else:
        document = _read(path)
        match program_of(document.value):
            case "CrewAI":
                imported = _crew(path.parent, inputs, named=path)
            case "docker-agent":
                imported = docker_agent_team(document, path.stem, listed)
            case _:
                raise InputError(
                    f"{path}: not a file of a supported program. Supported: {SUPPORTED}."
                )
    _check(imported)
    return imported


def models_text(imported: Imported) -> str:
    """Return the models.yaml that a team needs."""
    return write_yaml({"models": imported.models})


def tools_text(imported: Imported) -> str:
    """Return the tools.yaml that a team needs. Each tool asks before a call, as in docker-agent."""
    names = [
        f"{name}.{tool}" for name, server in imported.servers.items() for tool in server["tools"]
    ]
    return write_yaml({"permissions": dict.fromkeys(names, "ask"), "servers": imported.servers})


def _crew_folder(path: Path) -> Path:
    """Return the folder with the files of a project's crew."""
    folders = crew_folders(path)
    if not folders:
        raise InputError(
            f"{path}: {AGENTS_FILE} and {TASKS_FILE} of one CrewAI project must be here, in"
            " config/ or in src/*/config/. Name the file, or the folder with both."
        )
    if len(folders) > 1:
        commands = "".join(f"\n  mas dev import {folder}" for folder in folders)
        raise InputError(
            f"{path}: several crews, each a team. Write all with -o, or one:{commands}"
        )
    return folders[0]


def _crew(
    folder: Path,
    inputs: Mapping[str, str] | None,
    *,
    named: Path | None = None,
    root: Path | None = None,
) -> Imported:
    agents, tasks = (crew_files(folder, kind) for kind in ("agents", "tasks"))
    if not agents or not tasks:
        missing = folder / (TASKS_FILE if agents else AGENTS_FILE)
        raise InputError(
            f"{named or folder}: a file of CrewAI, but {missing} is missing. A team needs both"
            " files."
        )
    agents_file, tasks_file = (
        _joined([_read(file, root or folder) for file in files]) for files in (agents, tasks)
    )
    return crew_team(agents_file, tasks_file, crew_name(folder), inputs)


def crew_name(folder: Path) -> str:
    """Return the name of a folder's crew: the folder's name, or that of its project."""
    place = folder.resolve()
    while place.name in NO_NAME and place != place.parent:
        place = place.parent
    return place.name


def _joined(documents: list[Document]) -> Document:
    """Join files of agents, or of tasks, into one document that knows the place of each entry."""
    first, *others = documents
    if not others:
        return first
    value: dict[str, Any] = {}
    grafts: dict[tuple[str | int, ...], Document] = {}
    for document in documents:
        for name, entry in document.value.items() if is_mapping(document.value) else ():
            if name in value:
                message = f"{quoted(name)} is in {grafts[name,].file}, too. Rename one."
                raise ConfigError([document.problem((name,), message, at_key=True)])
            value[name] = entry
            grafts[name,] = _beneath(document, name)
    return replace(first, value=value, places={}, keys={}, grafts=grafts)


def _beneath(document: Document, name: str) -> Document:
    """Return one entry of a file as a document of its own, with its places."""
    places, keys = (
        {path[1:]: place for path, place in of.items() if path[:1] == (name,)}
        for of in (document.places, document.keys)
    )
    return replace(document, value=document.value[name], places=places, keys=keys)


def _read(path: Path, root: Path | None = None) -> Document:
    document, problems = read_yaml(read_file(path, root=root), str(path))
    if problems:
        raise ConfigError(sorted(problems))
    return document


def _check(imported: Imported) -> None:
    """Load the resulting team from the files that it will be."""
    hostless_team(dump(imported.team).encode(), "team.yaml")
    for kind, texts, there in (
        ("models", models_text, imported.models),
        ("tools", tools_text, imported.servers),
    ):
        if there:
            document, problems = read_yaml(texts(imported).encode(), f"{kind}.yaml")
            without_problems(*shape_only(document, problems, kind))
