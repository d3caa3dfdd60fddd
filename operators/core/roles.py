"""Roles of a catalogue: agents that a team may add unchanged, under a new id."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ...schema.host.catalogue import Catalogue
from ...schema.loading.agent_file import agent_paths, load_agent
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.seeds import SEEDS
from ...schema.team.team import Agent, Team, is_prompt_id
from ...schema.values.beneath import settled
from ...schema.values.errors import InputError
from ...schema.values.problems import reason_of
from ...schema.values.terminal import on_one_line
from .bounds import Bounds
from .material import clip, fenced, prompt_of

ROLES = SEEDS / "roles"
"""The catalogue that ships with coterie."""
FEWEST = 2
BRIEF = 200
"""Characters of a role's prompt that the choosing model sees."""


def load_roles(folder: Path, catalogue: Catalogue) -> Mapping[str, Agent]:
    """Load a catalogue: a folder of agent files, each named after its role.

    Raises:
        InputError: The folder is missing, is a link that leads out of its parent folder, or has
            fewer than two agents.
        ConfigError: A file does not load.
    """
    if folder.is_symlink():
        try:
            settled(folder.parent, folder.name)
        except OSError as error:
            raise InputError(f"roles: {folder}: {reason_of(error)}.") from None
    files = agent_paths(folder) if folder.is_dir() else ()
    if len(files) < FEWEST:
        text = f"has {len(files)}" if folder.is_dir() else "is no folder"
        raise InputError(f"roles: {folder} {text}; a catalogue is a folder of two agents or more.")
    own_catalogue = catalogue.beside(folder)
    roles = (with_text(load_agent(file, own_catalogue).agent, own_catalogue) for file in files)
    return {role.id: role for role in roles}


def with_text(agent: Agent, catalogue: Catalogue) -> Agent:
    """Return an agent with its prompt inlined: another team may have no prompt of that name."""
    if not is_prompt_id(agent.prompt):
        return agent
    return replace(agent, prompt=f"{prompt_of(agent, catalogue).strip()}\n")


def alone(roles: Mapping[str, Agent]) -> Iterator[Team]:
    """Return each role as a team of its own, which asks for exactly what the role asks for."""
    return (Team(name=name, agents={role.id: role}) for name, role in roles.items())


def ceiling_with(team: Team, roles: Mapping[str, Agent], most: int) -> CapabilityPolicy:
    """Return the ceiling of a team that may add roles: what the team and the roles ask for.

    Args:
        most: The most agents; a team that already has more keeps them.
    """
    return replace(
        CapabilityPolicy.of(team, *alone(roles)), agents=max(most, len(team.agents)), edges=None
    )


def roles_text(roles: Mapping[str, Agent], catalogue: Catalogue, bounds: Bounds) -> str:
    """Return the roles of a catalogue, one line each."""
    lines = (f"- {name}: {'; '.join(_describe(role, catalogue))}" for name, role in roles.items())
    return fenced("roles", clip("\n".join(lines), bounds.team_characters))


def free_id(role: str, ids: Collection[str]) -> str:
    """Return an unused id for a new agent: its role's name, numbered if that is taken."""
    numbered = (f"{role}_{number}" for number in range(2, len(ids) + 3))
    return role if role not in ids else next(name for name in numbered if name not in ids)


def _describe(agent: Agent, catalogue: Catalogue) -> Iterator[str]:
    if agent.role:
        yield on_one_line(agent.role)
    if agent.tools:
        yield f"tools {', '.join(agent.tools)}"
    if text := prompt_of(agent, catalogue):
        yield clip(on_one_line(text), BRIEF)
