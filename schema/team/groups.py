"""Short forms of agents in team files: groups of like agents, and agents that copy another one.

    debater: {count: 3}            debater_1, debater_2 and debater_3
    debater_*_round_1: {count: 3}  debater_1_round_1, debater_2_round_1 and debater_3_round_1
    judge: {like: debater_1}       all fields of debater_1 except those written here

Only files have groups; a `Team` lists each agent. Only this module expands groups. `folded`
restores them when a file is rewritten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..values.document import LIMITS, Document
from ..values.hints import did_you_mean, listed
from ..values.problems import Path, Problem, quoted
from ..values.values import is_list, is_mapping
from .building import GROUPING, is_grouped

MOST_AGENTS = 256
LONGEST_ID = 64
EDGES: Path = ("topology", "reports_to")
LISTS: Sequence[Path] = (
    ("execution", "recruit", "among"),
    ("execution", "rounds", "opening"),
    ("execution", "rounds", "hears"),
    ("execution", "rounds", "closing"),
)
"""The lists, in addition to the edges, where a group's name stands for all its members."""


def expanded(document: Document) -> tuple[Document, list[Problem]]:
    """Expand the groups of a team file and the agents that copy another one; see `is_grouped`.

    Returns:
        The document with the expanded value, and with the place where each part is written; and the
        problems of the groups.
    """
    expansion = _Expansion(raw=document.value["agents"])
    value = expansion.expand(document.value)
    problems = [document.problem(path, why, at_key=True) for path, why in expansion.complaints]
    return replace(document, value=value, origins=expansion.origins), problems


def expanded_value(value: Any) -> Any:
    """Expand the groups of a team's plain value."""
    return _Expansion(raw=value["agents"]).expand(value) if is_grouped(value) else value


def members_of(name: str, count: int) -> list[str]:
    """Return the ids of a group's members."""
    starred = name if "*" in name else f"{name}_*"
    return [starred.replace("*", str(number)) for number in range(1, count + 1)]


def places_in(groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """Return each member's group and number."""
    return {
        member: (name, number)
        for name, members in groups.items()
        for number, member in enumerate(members, 1)
    }


def numbered(fields: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a group's fields for one member, with its number for each * in the role."""
    role = fields.get("role")
    if not isinstance(role, str) or "*" not in role:
        return {**fields}
    return {**fields, "role": role.replace("*", str(number))}


def _ungrouped(value: Any) -> Any:
    if not is_mapping(value):
        return value
    return {key: item for key, item in value.items() if key not in GROUPING}


def _count(value: Any) -> int | None:
    """Return the number of a group's members; None if there is no valid count."""
    count = value.get("count") if is_mapping(value) else None
    is_right = type(count) is int and 1 <= count <= MOST_AGENTS
    return count if is_right else None


@dataclass(kw_only=True, eq=False)
class _Expansion:
    """The expansion of a file's agents, with origins and complaints collected so far."""

    raw: Mapping[str, Any]
    origins: dict[Path, Path] = field(default_factory=dict["Path", "Path"])
    complaints: list[tuple[Path, str]] = field(default_factory=list[tuple["Path", str]])
    _whole: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def __post_init__(self) -> None:
        if len(self.raw) > MOST_AGENTS:  # too many for a team, so none are expanded
            self.raw = {name: _ungrouped(fields) for name, fields in self.raw.items()}
        counts = {name: count for name, fields in self.raw.items() if (count := _count(fields))}
        self.members = {name: members_of(name, count) for name, count in counts.items()}
        self.place_of = places_in(self.members)

    def expand(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the team's value with its agents expanded wherever they are named."""
        agents: dict[str, Any] = {}
        for name, fields in self.raw.items():
            agents |= self._agents(name, fields, agents)
        self._check(agents)
        result = {**value, "agents": agents}
        for path in LISTS:
            _change(result, path, lambda names, path=path: self._listed(names, path))
        _change(result, EDGES, self._edges)
        return result

    def _agents(self, name: str, value: Any, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return the agents for an entry of the file: one agent, or the members of a group."""
        if not is_mapping(value):
            return {name: value}
        if name in self.members:
            for word in before.keys() & self.members[name]:
                self._complain(name, f"an agent {quoted(word)} exists already.")
            return {line: self._fields(line, ()) for line in self.members[name]}
        if "*" in name:
            self._complain(name, "a name with * is a group. Write its count, or leave out the *.")
        return {} if name in self.place_of else {name: self._fields(name, ())}

    def _fields(self, name: str, liking: Sequence[str]) -> dict[str, Any]:
        """Return all fields of an agent or a group, including those that it inherits."""
        if name not in self._whole:
            entry = self.raw.get(name)
            fields: dict[str, Any] = entry if is_mapping(entry) else {}
            if name in self.place_of:
                base = self._of_group(name, fields, liking)
            else:
                base = self._of_liked(name, fields.get("like"), (*liking, name))
            self._whole[name] = {**base, **_ungrouped(fields)}
        return self._whole[name]

    def _of_group(
        self, member: str, value: Mapping[str, Any], liking: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return the fields that a member inherits from its group, with its number in the role."""
        group, number = self.place_of[member]
        if not GROUPING.isdisjoint(value):
            self._complain(member, f"a member of {quoted(group)} cannot have count or like.")
        base = numbered(self._fields(group, liking), number)
        self._inherit(member, group, base, value)
        return base

    def _of_liked(self, name: str, like: Any, liking: Sequence[str]) -> Mapping[str, Any]:
        """Return the fields that an agent or a group inherits from the agent it is like."""
        if not isinstance(like, str):
            return {}
        if like in liking:
            self._complain(name, f"it is like itself: {' -> '.join((*liking, like))}.", "like")
        elif like not in self.raw and like not in self.place_of:
            hint = did_you_mean(like, self.raw) or f" Agents: {listed([*self.raw])}."
            self._complain(name, f"no agent {quoted(like)}.{hint}", "like")
        else:
            base = self._fields(like, liking)
            self._inherit(name, like, base, self.raw[name])
            return base
        return {}

    def _inherit(
        self, name: str, of: str, base: Mapping[str, Any], value: Mapping[str, Any]
    ) -> None:
        """Record where the inherited fields of an agent are written."""
        if name not in self.raw:
            self.origins["agents", name] = ("agents", of)
        else:
            inherited = base.keys() - value.keys()
            self.origins |= {("agents", name, word): ("agents", of, word) for word in inherited}

    def _complain(self, name: str, why: str, *inner: str) -> None:
        self.complaints.append((("agents", name, *inner), why))

    def _check(self, agents: dict[str, Any]) -> None:
        """Report too many agents, an expansion that is too large, and ids that are too long."""
        size = sum(
            len(json.dumps(self._fields(name, ()))) * len(ids) for name, ids in self.members.items()
        )
        if len(agents) > MOST_AGENTS or size > LIMITS.bytes:
            what = f"{len(agents)} agents" if len(agents) > MOST_AGENTS else f"{size} characters"
            most = MOST_AGENTS if len(agents) > MOST_AGENTS else LIMITS.bytes
            self.complaints.append((("agents",), f"written out, {what}: at most {most}."))
        for name, ids in self.members.items():
            if len(ids[-1]) > LONGEST_ID:
                self._complain(name, f"{quoted(ids[-1])} is too long for an id.")

    def _ids(self, name: Any) -> Sequence[Any]:
        return self.members.get(name, [name]) if isinstance(name, str) else [name]

    def _listed(self, names: Any, path: Path, written: Path | None = None) -> Any:
        """Return a list of agents with each group replaced by its members."""
        if not is_list(names):
            return names
        pairs = [(item, place) for place, name in enumerate(names) for item in self._ids(name)]
        table: dict[Any, int] = {}
        for entry, place in pairs:
            if isinstance(entry, str):
                table.setdefault(entry, place)
        for place, index in enumerate(table.values()):
            self._note((*path, place), (*(written or path), index))
        return [*table]

    def _edges(self, reports_to: Any) -> Any:
        if not is_mapping(reports_to):
            return reports_to
        edges: dict[str, Any] = {}
        for sender, receivers in reports_to.items():
            for item in self._ids(sender):
                path, written = (*EDGES, item), (*EDGES, sender)
                there = edges.get(item)
                edges[item] = self._listed(receivers, path, written)
                if is_list(there) and is_list(edges[item]):
                    edges[item] = [*dict.fromkeys((*there, *edges[item]))]
                self._note(path, written)
        return edges

    def _note(self, path: Path, written: Path) -> None:
        if path != written:
            self.origins.setdefault(path, written)


def _change(value: dict[str, Any], path: Path, change: Any) -> None:
    """Apply a change to the value at a path, in copies of the surrounding mappings."""
    *outer, last = map(str, path)
    for name in outer:
        if not is_mapping(value.get(name)):
            return
        value[name] = dict(value[name])
        value = value[name]
    if last in value:
        value[last] = change(value[last])


def folded(value: Mapping[str, Any], members: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Replace the members of a group by its name wherever all of them are listed together.

    Args:
        value: A team's plain value. Its `agents` stay unchanged.
    """
    result = dict(value)
    for path in LISTS:
        _change(result, path, lambda names: _folded_names(names, members))

    def edges(reports_to: Mapping[str, Any]) -> dict[str, Any]:
        short = {name: _folded_names(others, members) for name, others in reports_to.items()}
        alike = {
            name: ids
            for name, ids in members.items()
            if all(word in short and short[word] == short[ids[0]] for word in ids)
        }
        names = _folded_names([*short], alike)
        return {name: short[alike[name][0] if name in alike else name] for name in names}

    _change(result, EDGES, edges)
    return result


def _folded_names(names: Any, members: Mapping[str, Sequence[str]]) -> Any:
    if not is_list(names):
        return names
    for name, ids in members.items():
        place = names.index(ids[0]) if ids[0] in names else -1
        if place >= 0 and names[place : place + len(ids)] == [*ids]:
            names = [*names[:place], name, *names[place + len(ids) :]]
    return names
