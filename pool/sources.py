"""Team files that people give to a pool."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..schema.catalogue import BUILT_IN_PROMPTS
from ..schema.loading import load_team, team_path
from ..schema.team import is_prompt_id

if TYPE_CHECKING:
    from pathlib import Path

    from ..schema.catalogue import Catalogue
    from ..schema.team import Agent, Team

__all__ = ["load_source"]


def load_source(source: str | Path, catalogue: Catalogue) -> Team:
    """Load a team as a pool keeps it: with the texts of prompt files that only its writer has.

    Args:
        source: A path, or `seed:NAME` for a team that comes with coterie.
        catalogue: What names are known.

    Raises:
        InputError: There is no such file or seed, or it does not load.
    """
    path = team_path(source)
    team = load_team(path, catalogue)
    known = catalogue.beside(path.parent)
    agents = {one: _self_contained(agent, known) for one, agent in team.agents.items()}
    return replace(team, agents=agents)


def _self_contained(agent: Agent, catalogue: Catalogue) -> Agent:
    """Write out a prompt, unless it is one that comes with coterie and so is known everywhere."""
    if not is_prompt_id(agent.prompt):
        return agent
    text = catalogue.prompt(agent.prompt)
    built_in = replace(catalogue, prompt_folders=(BUILT_IN_PROMPTS,)).prompt(agent.prompt)
    return agent if text is None or text == built_in else replace(agent, prompt=text)
