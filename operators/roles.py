"""Roles of a catalogue: agents that a team may take in as they are, under an id of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..schema.ceiling import Ceiling
from ..schema.team import Team, is_prompt_id
from ..schema.terminal import on_one_line
from .material import clip, fenced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ..schema.catalogue import Catalogue
    from ..schema.team import Agent
    from .bounds import Bounds

__all__ = ["ceiling_with", "free_id", "roles_text"]

BRIEF = 200
"""Characters of a role's prompt that who chooses is shown."""


def ceiling_with(team: Team, roles: Mapping[str, Agent], most: int) -> Ceiling:
    """Give what a team may ask for that may take roles in: what it and they ask for, and no more.

    Args:
        team: The team.
        roles: Who may come, by role.
        most: The most agents; a team that has more of them keeps these.
    """
    alone = (Team(name="role", agents={one.id: one}) for one in roles.values())
    return replace(Ceiling.of(team, *alone), agents=max(most, len(team.agents)), edges=None)


def roles_text(roles: Mapping[str, Agent], catalogue: Catalogue, bounds: Bounds) -> str:
    """Show the roles of a catalogue, a line for each."""
    lines = (f"- {name}: {'; '.join(_told(one, catalogue))}" for name, one in roles.items())
    return fenced("roles", clip("\n".join(lines), bounds.team_characters))


def free_id(role: str, taken: Collection[str]) -> str:
    """Give a newcomer its id: its role's name, with a number where that is taken."""
    numbered = (f"{role}_{number}" for number in range(2, len(taken) + 3))
    return role if role not in taken else next(one for one in numbered if one not in taken)


def _told(agent: Agent, catalogue: Catalogue) -> Iterator[str]:
    if agent.role:
        yield on_one_line(agent.role)
    if agent.tools:
        yield f"tools {', '.join(agent.tools)}"
    text = catalogue.prompt(agent.prompt) if is_prompt_id(agent.prompt) else agent.prompt
    if text:
        yield clip(on_one_line(text), BRIEF)
