"""A team as a folder of text, its scaffold: what all share in one file, a folder for each agent.

team.yaml                     the team, with its constitution and who is in it
agents/<id>/                  each agent, in a folder as `schema.loading.agent_document` tells
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

    New agents come before the team's file, which names them. Those who are no longer in the team
    come last, and so does all that an agent's folder may hold and the agent does not have. Stopped
    at any point, every file is whole, and writing again ends what was begun.

    Args:
        folder: Where. What it stands in exists.
        team: The team. Where the folder is another's, with the same agents, they change.

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
    """Return what the files of a team's folder say, by their paths in it, agents first."""
    texts = {
        f"{AGENTS}/{agent_id}/{name}": text
        for agent_id, agent in team.agents.items()
        for name, text in agent_texts(AgentFile(agent=agent)).items()
    }
    value = team_value(team)
    value["agents"] = {agent: {"use": f"{AGENTS}/{agent}"} for agent in team.agents}
    return {**texts, TEAM: write_team_yaml(value)}


def strangers(folder: Path, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Name the files of a folder that are none of these, nor what agents of a pool have learnt."""
    there = files_in(folder, ["**/*"])
    return tuple(name for name in there if name not in texts and Path(name).name != LESSONS)


def self_contained(team: Team, catalogue: Catalogue) -> Team:
    """Write out the prompts of a team, but those that come with coterie and are known everywhere.

    Args:
        catalogue: Where the files of its prompts are found.
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
    """Name the agents that a folder's team has in it; none where nobody knows."""
    try:
        value = read_yaml(read_file(folder / TEAM), TEAM)[0].value
    except InputError:
        return []
    agents = value.get("agents") if is_mapping(value) else None
    pairs = agents.items() if is_mapping(agents) else ()
    return [name for name, fields in pairs if is_mapping(fields) and _uses(fields, name)]


def _uses(fields: Mapping[str, object], name: str) -> bool:
    return fields.get("use") == f"{AGENTS}/{name}"
