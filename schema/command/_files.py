"""Recognises the kinds of files given to a command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..loading.agent_document import AGENT, is_agent_folder, is_team_folder
from ..loading.loading import STREAMS, read_file, read_team
from ..loading.seeds import located
from ..team.team import Team
from ..values.errors import InputError

MARKS: Mapping[bytes, str] = {
    b"query": "task",
    b"models": "models",
    b"servers": "tools",
    b"python": "tools",
    b"scorers": "tools",
    b"permissions": "tools",
    b"ceiling": "policy",
    b"strategy": "evolution",
    b"agents": "team",
    b"topology": "team",
    b"execution": "team",
    b"role": "agent",
    b"prompt": "agent",
    b"agent_type": "agent",
    b"model_id": "agent",
    b"function": "agent",
}
"""Top-level fields that only one kind of file has, the surest first."""


TASKS: Mapping[str, str] = {".json": "task", **dict.fromkeys(STREAMS, "tasks")}
"""Kinds of task files by their endings: one task, or many."""


def kind_of(file: Path) -> str:
    """Return the kind of a file, by the first top-level field that only this kind has."""
    if file.suffix in TASKS:
        return TASKS[file.suffix]
    if file.name == AGENT or is_agent_folder(file):
        return "agent"
    if is_team_folder(file):
        return "team"
    lines = {line.split(b":")[0] for line in read_file(file).splitlines() if b":" in line}
    if {b"agents", b"models"} <= lines:  # docker-agent's; reading it says so
        return "team"
    return next((kind for mark, kind in MARKS.items() if mark in lines), "team")


def with_agents(path: Path) -> tuple[Path, ...]:
    """Return the file of a path or a seed, a team's or an agent's folder, or a folder's agents.

    Raises:
        InputError: The folder has no agents, or there is no such seed.
    """
    path = located(path)
    if not path.is_dir() or is_agent_folder(path) or is_team_folder(path):
        return (path,)
    from ..loading.agent_file import agent_paths

    if not (paths := agent_paths(path)):
        raise InputError(f"{path}: no agent files here, and no folders with {AGENT}.")
    return paths


def team_in(path: Path) -> Team:
    """Read a team file or a seed without a host, or an agent file as a team of one."""
    if kind_of(path) != "agent":
        return read_team(path)
    from ..loading.agent_file import read_agent

    return read_agent(path).team
