"""A team as a folder of text files, its scaffold: a shared file, and a folder for each agent.

team.yaml                     the team, with its constitution and its agents' names
agents/<id>/                  each agent, in a folder as in `schema.loading.agent_document`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..host.catalogue import BUILT_IN_PROMPTS, Catalogue
from ..team.team import Agent, Team, is_prompt_id
from ..team.writing import team_value, write_team_yaml
from ..values.errors import InputError
from ..values.files import make_folder
from ..values.folders import files_in, write_folder
from ..values.values import is_mapping
from ..values.yaml_text import read_yaml
from .agent_document import AGENTS, LESSONS, TEAM
from .agent_file import OURS, AgentFile, agent_texts
from .loading import read_file


def write_team(folder: str | Path, team: Team) -> tuple[str, ...]:
    """Write a team as a folder; loading the folder gives an equal team back.

    New agents are written before the team's file, which names them. Removed agents, and obsolete
    files of remaining ones, are deleted last. If writing stops at any point, every file is
    complete, and writing again finishes it.

    Args:
        folder: The folder. Its parent exists.
        team: The team. In a folder with another team, agents of the same name are overwritten.

    Returns:
        The files that are no part of a team, by their paths in the folder: they stay.
    """
    folder = Path(folder)
    texts, own = team_texts(team), {*_agents_of(folder), *team.agents}
    old = files_in(folder, [f"{AGENTS}/{name}/{part}" for name in own for part in OURS])
    make_folder(folder)
    write_folder(folder, texts, old)
    return strangers(folder, texts)


def team_texts(team: Team) -> Mapping[str, str]:
    """Return the texts of a team's folder, by their paths in it, agents first."""
    texts = {
        f"{AGENTS}/{agent_id}/{name}": text
        for agent_id, agent in team.agents.items()
        for name, text in agent_texts(AgentFile(agent=agent)).items()
    }
    value = team_value(team)
    value["agents"] = {agent: {"use": f"{AGENTS}/{agent}"} for agent in team.agents}
    return {**texts, TEAM: write_team_yaml(value)}


def strangers(folder: Path, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folder's files except these texts and the memories of a pool's agents."""
    there = files_in(folder, ["**/*"])
    return tuple(name for name in there if name not in texts and Path(name).name != LESSONS)


def self_contained(team: Team, catalogue: Catalogue) -> Team:
    """Replace the team's prompt ids by their texts, except those of prompts that come with coterie.

    Args:
        catalogue: The catalogue that finds the prompt files.
    """
    agents = {name: _self_contained(agent, catalogue) for name, agent in team.agents.items()}
    return replace(team, agents=agents)


def _self_contained(agent: Agent, catalogue: Catalogue) -> Agent:
    if not is_prompt_id(agent.prompt):
        return agent
    text = catalogue.prompt(agent.prompt)
    built_in = replace(catalogue, prompt_folders=(BUILT_IN_PROMPTS,)).prompt(agent.prompt)
    return agent if text is None or text == built_in else replace(agent, prompt=text)


def _agents_of(folder: Path) -> list[str]:
    """Return the agents of a folder's team that have a folder there; empty if it is unreadable."""
    try:
        value = read_yaml(read_file(folder / TEAM), TEAM)[0].value
    except InputError:
        return []
    agents = value.get("agents") if is_mapping(value) else None
    pairs = agents.items() if is_mapping(agents) else ()
    return [name for name, fields in pairs if is_mapping(fields) and _uses(fields, name)]


def _uses(fields: Mapping[str, object], name: str) -> bool:
    return fields.get("use") == f"{AGENTS}/{name}"
