"""Rewrites a team's file to hold another team and changes nothing else in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..host.catalogue import Catalogue
from ..loading.agent_document import with_used
from ..loading.loading import check_team
from ..team.building import GROUPING, agent_of
from ..team.groups import folded, members_of, numbered, places_in
from ..team.rewriting import exactly, rewritten_yaml
from ..team.team import Agent, Team, is_prompt_id
from ..team.writing import agent_value, canonical, team_value
from ..values.errors import without_problems
from ..values.values import is_mapping
from ..values.yaml_text import read_yaml
from .changes import renamed_agents, written

BYTE_ORDER_MARK = "\ufeff"
ONLY_IN_FILES = {*GROUPING, "use"}


def rewritten(
    text: str,
    team: Team,
    catalogue: Catalogue,
    *,
    file: str = "team.yaml",
    folder: Path | None = None,
) -> str:
    """Rewrite the text of a team file to hold another team, and change nothing else.

    Comments, blank lines, field order, quotes and block styles of unchanged parts stay. The file's
    lineage stays. A changed field that comes from `defaults` or from a used agent file is written
    in the agent's own entry. A prompt in its own file stays there if unchanged; otherwise the
    agent's entry gets the new text, and the prompt file stays unchanged.

    A group remains a group while its members are numbered without a gap: most members' values
    become the group's, and the other members list their differences. Otherwise its members are
    expanded.

    A file that can't be rewritten in part, such as JSON, is written again in canonical form.

    Args:
        team: The new team. Loading the result gives an equal team, apart from its lineage.
        folder: The file's folder, with the agent files and prompt files that it uses.

    Raises:
        ConfigError: The text does not load.
    """
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    text = text.removeprefix(mark)
    own_catalogue = catalogue.beside(folder) if folder else catalogue
    before = without_problems(*check_team(text.encode(), file, own_catalogue, folder=folder))
    document, _ = read_yaml(text.encode(), file)
    after = replace(_with_prompt_ids(team, before, own_catalogue), lineage=before.lineage)
    used, _ = with_used(document, [], folder)
    entries = _Entries(raw=document.value, used=used.value["agents"], before=before, after=after)
    new = entries.value()
    if exactly(new) == exactly(document.value):
        return mark + text
    result = rewritten_yaml(text, document.value, new)
    if result is not None:
        there, problems = check_team(result.encode(), file, own_catalogue, (), folder=folder)
        if not problems and exactly(team_value(there)) == exactly(team_value(after)):
            return mark + result
    return mark + canonical(replace(document, value=team_value(after)), text)


def _with_prompt_ids(team: Team, before: Team, catalogue: Catalogue) -> Team:
    """Return the team with the ids of unchanged prompt files instead of their texts."""
    names = [agent.prompt for agent in before.agents.values() if is_prompt_id(agent.prompt)]
    ids = {text: name for name in names if (text := catalogue.prompt(name)) is not None}
    agents = {
        agent_id: replace(agent, prompt=ids.get(agent.prompt, agent.prompt))
        for agent_id, agent in team.agents.items()
    }
    return replace(team, agents=agents)


@dataclass(kw_only=True, eq=False)
class _Entries:
    """The entries of a file's agents, kept as written where they do not change.

    Attributes:
        used: The agents with the fields of the agent files that they use.
    """

    raw: Mapping[str, Any]
    used: Mapping[str, Any]
    before: Team
    after: Team
    _entries: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.agents: Mapping[str, Any] = self.raw["agents"]
        self.shared: Mapping[str, Any] = self.raw.get("defaults") or {}
        self.new_ids = renamed_agents(self.before, self.after)
        self.old_ids = {new: old for old, new in self.new_ids.items()}
        pairs = ((name, entry) for name, entry in self.agents.items() if is_mapping(entry))
        self.groups = {
            name: members_of(name, fields["count"]) for name, fields in pairs if "count" in fields
        }
        staying = {name: self._staying(name) for name in self.groups}
        self.staying = {name: ids for name, ids in staying.items() if ids}
        self.place_of = places_in(self.staying)
        self.scattered = {
            line: (name, left[0])
            for name, ids in self.groups.items()
            if name not in self.staying
            and (left := [member for member in ids if member in self.after.agents])
            for line in left
        }

    def value(self) -> dict[str, Any]:
        """Return the new value of the file."""
        agents: dict[str, Any] = {}
        for name in self.after.agents:
            group, _ = self.place_of.get(name, (None, 0))
            if group is not None and group not in agents:
                agents[group] = self._entry(group)
            entry = self._entry(name)
            if group is None or entry or name in self.agents:
                agents[name] = entry
        old, new = ({**team_value(each), "agents": {}} for each in (self.before, self.after))
        short = (folded(old, self.groups), folded(new, self.staying))
        return {**_merged({**self.raw, "agents": {}}, *short), "agents": agents}

    def _staying(self, group: str) -> Sequence[str]:
        """Return a group's new members; empty if their numbers have a gap."""
        ids, order = self.groups[group], [*self.after.agents]
        place = order.index(ids[0]) if ids[0] in order else len(order)
        pairs = zip(order[place:], members_of(group, len(order) - place), strict=True)
        there = [name for name, _ in takewhile(self._may_be_member, pairs)]
        return there if {*ids}.intersection(order) <= {*there} else ()

    def _may_be_member(self, pair: tuple[str, str]) -> bool:
        """Return whether an agent has the id of a group's next member and was not renamed to it."""
        agent, expected = pair
        return agent == expected and agent not in self.old_ids

    def _entry(self, name: str) -> Any:
        """Return the new entry of an agent or a group, under its new name."""
        if name not in self._entries:
            own = self._own(name)
            inherited = self._inherited(name, own)
            fields = {**self.shared, **inherited, **_plain(own)}
            agent = self._common(name, fields) if name in self.staying else self.after.agents[name]
            there = agent_of(name, fields)
            entry = _agent_fields(own or {}, there, agent, {*self.shared, *inherited})
            self._entries[name] = entry or (own and {})
        return self._entries[name]

    def _own(self, name: str) -> Any:
        """Return the current entry of an agent or a group, with new names."""
        old = self.old_ids.get(name, name)
        own = self.agents.get(old, {})
        if name in self.staying:
            own = {**own, "count": len(self.staying[name])}
        elif old in self.scattered:
            group, first = self.scattered[old]
            lead = _without(self.agents[group], "count") if old == first else {"like": first}
            own = {**lead, **(own or {})}
        return self._liking(own) if own and "like" in own else own

    def _liking(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an entry with the new name in `like`, or without `like` if that agent is gone."""
        heirs = dict(self.scattered.values())
        named: str = own["like"]
        heir = heirs.get(named, named)
        like = self.new_ids.get(heir, heir)
        is_there = like in self.staying or like in self.after.agents
        return {**own, "like": like} if is_there else _without(own, "like")

    def _inherited(self, name: str, own: Any) -> Mapping[str, Any]:
        """Return the fields that an agent inherits from a group, a liked agent or a used file."""
        base: Mapping[str, Any] = {}
        if name in self.place_of:
            group, number = self.place_of[name]
            base = numbered(self._whole(group), number)
        elif own and "like" in own:
            base = self._whole(own["like"])
        old = self.old_ids.get(name, name)
        used = _without(self.used.get(old) or {}, *(self.agents.get(old) or {}))
        return {**base, **used}

    def _whole(self, name: str) -> Mapping[str, Any]:
        own = self._own(name)
        return {**self._inherited(name, own), **_plain(self._entry(name))}

    def _common(self, group: str, fields: Mapping[str, Any]) -> Agent:
        """Return the most frequent form of a group's members without own entries."""
        ids = self.staying[group]
        agents = {
            name: self._starred(self.after.agents[name], fields, place)
            for place, name in enumerate(ids, 1)
        }
        counted = [name for name in ids if name not in self.agents] or ids
        texts = {name: exactly(agent_value(agents[name])) for name in counted}
        usual = Counter(texts.values()).most_common(1)[0][0]
        return next(agents[name] for name, text in texts.items() if text == usual)

    def _starred(self, agent: Agent, fields: Mapping[str, Any], number: int) -> Agent:
        is_usual = numbered(fields, number).get("role", "") == agent.role
        return replace(agent, role=fields.get("role", "")) if is_usual else agent


def _plain(own: Any) -> dict[str, Any]:
    return _without(own or {}, *ONLY_IN_FILES)


def _without(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: item for name, item in fields.items() if name not in names}


def _agent_fields(
    raw: Mapping[str, Any], before: Agent, after: Agent, inherited: Collection[str]
) -> Any:
    """Return an agent's own fields, including defaults that inherited values would override."""
    old, new = (_with_defaults(agent, inherited) for agent in (before, after))
    return _merged(raw, old, new)


def _with_defaults(agent: Agent, explicit: Collection[str]) -> Mapping[str, Any]:
    fields, defaults = agent_value(agent), written(agent)
    return {**fields, **{name: defaults[name] for name in explicit if name not in fields}}


def _merged(raw: Any, before: Any, after: Any) -> Any:
    """Return the new value, with each unchanged part as written."""
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
