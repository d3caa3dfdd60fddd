"""What differs between two teams, field by field: what diffs and people's words are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..team import Execution
from ..values import equal_numbers_alike
from ..writing import plain, team_value
from ._draft import agent_value
from .kinds import AGENT_FIELDS, TEAM_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..problems import Path
    from ..team import Agent, Team
    from .kinds import Component

__all__ = ["Change", "changes", "renamed_agents", "same", "written"]

ORDER: Path = ("agents",)
EDGES: Path = ("topology", "reports_to")
OUTPUT: Path = ("topology", "output")
SINGLE_FIELDS: Mapping[str, Component] = {
    field: component
    for field, component in TEAM_FIELDS.items()
    if field not in {"agents", "topology", "execution"}
}
"""The fields of a team that are compared as one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One thing that differs.

    Attributes:
        component: Of which component it is.
        path: What it is, by the ids of the later team:

            * `agents.<id>`: an agent that came (before: None) or went (after: None), its fields;
            * `agents.<id>.id`: an agent with another id now; the path has the old one;
            * `agents`: the order of the agents, as ids;
            * `agents.<id>.<field>`, `execution.<field>`, and fields of the team;
            * `topology.reports_to`: the edges that went, and those that came. None of either: the
              edges stand in another order;
            * `topology.output`: the declared output.
        before: What stood there, as plain values, where a default counts as written.
        after: What stands there now.
    """

    component: Component
    path: Path
    before: Any
    after: Any


def changes(before: Team, after: Team) -> tuple[Change, ...]:
    """Find all that differs between two teams.

    An agent that has another id and all else as before counts as renamed. Equal numbers are equal
    however they are written.
    """
    new_ids = renamed_agents(before, after)
    found = [*_roster(before, after, new_ids), *_topology(before, after, new_ids)]
    for old, agent in before.agents.items():
        new = new_ids.get(old, old)
        if new in after.agents:
            path: Path = ("agents", new)
            found += _fields(written(agent), written(after.agents[new]), AGENT_FIELDS, path)
    parameters: dict[str, Component] = {f.name: "parameters" for f in fields(Execution)}
    started, ended = written(before.execution), written(after.execution)
    found += _fields(started, ended, parameters, ("execution",))
    return (*found, *_fields(_single(before), _single(after), SINGLE_FIELDS, ()))


def renamed_agents(before: Team, after: Team) -> Mapping[str, str]:
    """Find the agents that have another id and all else as before; their new ids by the old."""
    fresh = [agent for agent_id, agent in after.agents.items() if agent_id not in before.agents]
    new_ids: dict[str, str] = {}
    for old, agent in before.agents.items():
        if old not in after.agents:
            value = agent_value(agent)
            twin = next((one for one in fresh if same(agent_value(one), value)), None)
            if twin is not None:
                fresh.remove(twin)
                new_ids[old] = twin.id
    return new_ids


def same(one: Any, other: Any) -> bool:
    """Tell whether two plain values are the same to the last bit of order; `600` is `600.0`."""
    return json.dumps(equal_numbers_alike(one)) == json.dumps(equal_numbers_alike(other))


def _roster(before: Team, after: Team, new_ids: Mapping[str, str]) -> Iterator[Change]:
    stay: list[str] = []
    for old, agent in before.agents.items():
        new = new_ids.get(old, old)
        if new not in after.agents:
            yield _roster_change(("agents", old), agent_value(agent), None)
            continue
        stay.append(new)
        if new != old:
            yield _roster_change(("agents", old, "id"), old, new)
    for new, agent in after.agents.items():
        if new not in stay:
            yield _roster_change(("agents", new), None, agent_value(agent))
    now = [agent_id for agent_id in after.agents if agent_id in stay]
    if now != stay:
        yield _roster_change(ORDER, stay, now)


def _roster_change(path: Path, before: Any, after: Any) -> Change:
    return Change(component="roster", path=path, before=before, after=after)


def _topology(before: Team, after: Team, new_ids: Mapping[str, str]) -> Iterator[Change]:
    old = [(new_ids.get(u, u), new_ids.get(v, v)) for u, v in before.edges]
    gone = [edge for edge in old if edge not in set(after.edges)]
    come = [edge for edge in after.edges if edge not in set(old)]
    if old != list(after.edges):
        yield Change(component="topology", path=EDGES, before=plain(gone), after=plain(come))
    output = new_ids.get(before.declared_output or "", before.declared_output)
    if output != after.declared_output:
        yield Change(component="topology", path=OUTPUT, before=output, after=after.declared_output)


def _fields(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    owners: Mapping[str, Component],
    path: Path,
) -> Iterator[Change]:
    for field, component in owners.items():
        if not same(before[field], after[field]):
            yield Change(
                component=component,
                path=(*path, field),
                before=before[field],
                after=after[field],
            )


def written(part: Agent | Execution) -> Mapping[str, Any]:
    """Give every field of an agent or an execution as plain values, defaults too."""
    return {field.name: plain(getattr(part, field.name)) for field in fields(part)}


def _single(team: Team) -> Mapping[str, Any]:
    defaults = {"description": "", "backend": None, "constitution": "", "successful_tasks": []}
    return defaults | team_value(team)
