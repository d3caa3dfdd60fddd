"""Rewrites a team's file so that it says another team, and touches nothing else in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..loading.loading import check_team
from ..team.building import agent_of
from ..team.rewriting import exactly, rewritten_yaml
from ..team.team import is_prompt_id
from ..team.writing import agent_value, canonical, team_value
from ..values.errors import ConfigError
from ..values.values import is_mapping
from ..values.yaml_text import read_yaml
from .changes import renamed_agents, written

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from ..host.catalogue import Catalogue
    from ..team.team import Agent, Team

__all__ = ["rewritten"]

BYTE_ORDER_MARK = "\ufeff"


def rewritten(
    text: str,
    team: Team,
    catalogue: Catalogue,
    *,
    file: str = "team.yaml",
    folder: Path | None = None,
) -> str:
    """Rewrite the text of a team file so that it says another team, and touch nothing else.

    Comments, blank lines, the order of fields, quotes and block styles of what did not change stay.
    So does the lineage that the file has. A field that the agent gets from `defaults`, or from an
    agent file that it uses, is written beside these. A prompt that stands in a file of its own
    stays there if it did not change; else the agent gets the new text, and that file stays.

    Where the file can't be rewritten in part, because it is JSON for instance, it is written anew
    in canonical form.

    Args:
        text: The file's text.
        team: What it is to say: loading the result gives an equal team, but for its lineage.
        catalogue: What names are known.
        file: The name that messages show.
        folder: Where the file lies, with the agent files and prompt files that it uses.

    Raises:
        ConfigError: The text does not load.
    """
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    text = text.removeprefix(mark)
    known = catalogue.beside(folder) if folder else catalogue
    before, problems = check_team(text.encode(), file, known, folder=folder)
    if problems:
        raise ConfigError(problems)
    document, _ = read_yaml(text.encode(), file)
    after = replace(_with_prompt_ids(team, before, known), lineage=before.lineage)
    new = _fields(document.value, before, after)
    if exactly(new) == exactly(document.value):
        return mark + text
    result = rewritten_yaml(text, document.value, new)
    if result is not None:
        there, problems = check_team(result.encode(), file, known, (), folder=folder)
        if not problems and exactly(team_value(there)) == exactly(team_value(after)):
            return mark + result
    return mark + canonical(replace(document, value=team_value(after)), text)


def _with_prompt_ids(team: Team, before: Team, known: Catalogue) -> Team:
    """Name the files of prompts again that were written out and have not changed since."""
    names = [agent.prompt for agent in before.agents.values() if is_prompt_id(agent.prompt)]
    ids = {text: name for name in names if (text := known.prompt(name)) is not None}
    agents = {
        agent_id: replace(agent, prompt=ids.get(agent.prompt, agent.prompt))
        for agent_id, agent in team.agents.items()
    }
    return replace(team, agents=agents)


def _fields(raw: Mapping[str, Any], before: Team, after: Team) -> dict[str, Any]:
    """Return what the file is to say: what it says, where the team stays as it is."""
    ids = {new: old for old, new in renamed_agents(before, after).items()}
    shared = raw.get("defaults") or {}
    agents: dict[str, Any] = {}
    for agent_id, agent in after.agents.items():
        old = ids.get(agent_id, agent_id)
        own = raw["agents"].get(old, {})
        there = before.agents.get(old) or agent_of(old, shared)
        agents[agent_id] = _agent_fields(own or {}, there, agent, shared) or (own and {})
    old_value, new_value = ({**team_value(each), "agents": {}} for each in (before, after))
    fields = _merged({**raw, "agents": {}}, old_value, new_value)
    return {**fields, "agents": agents}


def _agent_fields(
    raw: Mapping[str, Any], before: Agent, after: Agent, shared: Collection[str]
) -> Any:
    """Return an agent's own fields: also those at their default, if others would take the place."""
    explicit = written(after).keys() - {"id"} if "use" in raw else shared
    old, new = (_with_defaults(agent, explicit) for agent in (before, after))
    return _merged(raw, old, new)


def _with_defaults(agent: Agent, explicit: Collection[str]) -> Mapping[str, Any]:
    fields, defaults = agent_value(agent), written(agent)
    return {**fields, **{name: defaults[name] for name in explicit if name not in fields}}


def _merged(raw: Any, before: Any, after: Any) -> Any:
    """Return what is written of a value: as it is written, as far as it stays."""
    if exactly(before) == exactly(after):
        return raw
    if not (is_mapping(raw) and is_mapping(before) and is_mapping(after)):
        return after
    names = [name for name in raw if name in after or name not in before]
    if [name for name in before if name in after] != [name for name in after if name in before]:
        names.sort(key=lambda name: [*after, name].index(name))
    place = 0
    for name in after:
        if name in names:
            place = names.index(name) + 1
        elif exactly(before.get(name)) != exactly(after[name]):
            names.insert(place, name)
            place += 1
    return {name: _merged(raw.get(name), before.get(name), after.get(name)) for name in names}
