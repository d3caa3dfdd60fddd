"""Which program a file with agents is of, where it is none of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..values.problems import Problem
from ..values.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..values.document import Document

__all__ = [
    "AGENTS_FILE",
    "CREWAI",
    "DOCKER_AGENT",
    "TASKS_FILE",
    "crew_folder",
    "foreign_problem",
    "is_crew",
    "program_of",
]

CREWAI = "CrewAI"
DOCKER_AGENT = "docker-agent"

AGENTS_FILE, TASKS_FILE = "agents.yaml", "tasks.yaml"
"""What CrewAI calls its two files."""

_OURS = frozenset({"name", "topology", "execution", "constitution", "defaults"})
"""Fields at the top of our team files, which the others do not have."""
_OF_DOCKER_AGENT = frozenset({"handoffs", "instruction", "model", "sub_agents", "toolsets"})
_OF_OUR_AGENT = frozenset({"agent_type", "model_id", "prompt", "role", "use"})
_OF_AN_AGENT = frozenset({"goal", "backstory"})
_OF_A_TASK = frozenset({"description", "expected_output"})


def program_of(value: Any) -> str | None:
    """Name the program that a file is of, by what it says; None for ours, and for any other."""
    if not is_mapping(value) or value.keys() & _OURS:
        return None
    if "agents" in value:
        return DOCKER_AGENT if _is_docker_agent(value) else None
    return CREWAI if is_crew(value, _OF_AN_AGENT) or is_crew(value, _OF_A_TASK) else None


def is_crew(value: Mapping[str, Any], fields: frozenset[str] = _OF_AN_AGENT) -> bool:
    """Tell whether all that a file has at its top are CrewAI's agents; or its tasks, by fields."""
    parts = value.values()
    return bool(value) and all(is_mapping(part) and fields <= part.keys() for part in parts)


def foreign_problem(document: Document) -> Problem | None:
    """Say of another program's file what it is, and which command takes it over."""
    program = program_of(document.value) if document.complete else None
    if program is None:
        return None
    message = (
        f"this is a file of {program}, and not a team. Take it over:"
        f" mas dev import {document.file} -o team.yaml"
    )
    return Problem(file=document.file, message=message)


def crew_folder(folder: Path) -> Path | None:
    """Find the folder with the two files of a crew: this one, or where its project keeps them.

    Where there are several in a project, it is not clear which is meant, and none is found.
    """
    places = [folder, folder / "config", *sorted(folder.glob("src/*/config"))]
    found = [place for place in places if all((place / name).is_file() for name in _BOTH)]
    return found[0] if len(found) == 1 or folder in found else None


_BOTH = (AGENTS_FILE, TASKS_FILE)


def _is_docker_agent(value: Mapping[str, Any]) -> bool:
    agents = value["agents"]
    if not is_mapping(agents) or not agents:
        return False
    parts = [agent for agent in agents.values() if is_mapping(agent)]
    if any(_OF_OUR_AGENT & part.keys() for part in parts):
        return False
    return any(_OF_DOCKER_AGENT & part.keys() for part in parts)
