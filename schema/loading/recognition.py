"""Recognises agent files of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..values.problems import Problem
from ..values.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..values.document import Document

CREWAI = "CrewAI"
DOCKER_AGENT = "docker-agent"

AGENTS_FILE, TASKS_FILE = "agents.yaml", "tasks.yaml"
"""CrewAI's names of its two files."""

_OURS = frozenset({"name", "topology", "execution", "constitution", "defaults"})
"""Top-level fields of our team files that the other formats do not have."""
_OF_DOCKER_AGENT = frozenset({"handoffs", "instruction", "model", "sub_agents", "toolsets"})
_OF_OUR_AGENT = frozenset({"agent_type", "model_id", "prompt", "role", "use"})
_OF_AN_AGENT = frozenset({"goal", "backstory"})
_OF_A_TASK = frozenset({"description", "expected_output"})


def program_of(value: Any) -> str | None:
    """Return the other program that a file belongs to; None for our own files and unknown ones."""
    if not is_mapping(value) or value.keys() & _OURS:
        return None
    if "agents" in value:
        return DOCKER_AGENT if _is_docker_agent(value) else None
    return CREWAI if is_crew(value, _OF_AN_AGENT) or is_crew(value, _OF_A_TASK) else None


def is_crew(value: Mapping[str, Any], fields: frozenset[str] = _OF_AN_AGENT) -> bool:
    """Return whether all top-level values have these fields: those of CrewAI's agents or tasks."""
    parts = value.values()
    return bool(value) and all(is_mapping(part) and fields <= part.keys() for part in parts)


def foreign_problem(document: Document) -> Problem | None:
    """Return a problem that names the other program and the command to import its file."""
    program = program_of(document.value) if document.complete else None
    if program is None:
        return None
    message = (
        f"this is a file of {program}, not a team. Import it: mas dev"
        f" import {document.file} -o team.yaml"
    )
    return Problem(file=document.file, message=message)


def crew_folders(folder: Path) -> list[Path]:
    """Return the folders with the files of a crew: this folder, or folders of a project."""
    if all((folder / name).is_file() for name in _BOTH):
        return [folder]
    places = (place for pattern in _PLACES for place in sorted(folder.glob(pattern)))
    return [place for place in places if crew_files(place, "agents") and crew_files(place, "tasks")]


def crew_files(folder: Path, kind: Literal["agents", "tasks"]) -> list[Path]:
    """Return the files in a crew's folder that are named after agents or tasks.

    CrewAI's own names come first; a project may have several, here or in a folder of that name.
    """
    files = {*folder.glob(f"*{kind}*.y*ml"), *folder.glob(f"{kind}/*.y*ml")}
    usual = folder / f"{kind}.yaml"
    return sorted(
        (file for file in files if file.is_file()), key=lambda file: (file != usual, file)
    )


_BOTH = (AGENTS_FILE, TASKS_FILE)
_PLACES = ("config", "src/*/config", "crews/*/config", "src/*/crews/*/config")


def _is_docker_agent(value: Mapping[str, Any]) -> bool:
    agents = value["agents"]
    if not is_mapping(agents) or not agents:
        return False
    parts = [agent for agent in agents.values() if is_mapping(agent)]
    if any(_OF_OUR_AGENT & part.keys() for part in parts):
        return False
    return any(_OF_DOCKER_AGENT & part.keys() for part in parts)
