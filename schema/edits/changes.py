"""The differences between two teams, field by field: the basis of diffs and their descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..team.team import Agent, Execution, Team, natural
from ..team.writing import agent_value, team_value
from ..values.problems import Path
from ..values.values import equal_numbers_alike, plain
from .components import AGENT_FIELDS, TEAM_FIELDS, Component
from .kinds.of_notes import NAMED_NOTES

ORDER: Path = ("agents",)
EDGES: Path = ("topology", "reports_to")
OUTPUT: Path = ("topology", "output")
SINGLE_FIELDS: Mapping[str, Component] = {
    field: component
    for field, component in TEAM_FIELDS.items()
    if field not in {"agents", "topology", "execution"}
}
"""The fields of a team that are compared as a whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldChange:
    """One difference.

    Attributes:
        path: The place that differs, with the ids of the later team:

            * `agents.<id>`: the fields of an agent that was added (before: None) or removed (after:
              None);
            * `agents.<id>.id`: an agent with a new id; the path has the old one;
            * `agents`: the order of the agents, as ids;
            * `agents.<id>.<field>`, `execution.<field>`, and fields of the team;
            * `agents.<id>.notes.<kind>.<name>`, and `agents.<id>.notes.coaching`;
            * `topology.reports_to`: the removed edges and the added ones. If both are empty, the
              order of the edges differs;
            * `topology.output`: the declared output.
        before: The old plain value; a default counts as written.
        taught: The id of the task that taught a note, if known.
    """

    component: Component
    path: Path
    before: Any
    after: Any
    taught: str = ""


def changes(before: Team, after: Team) -> tuple[FieldChange, ...]:
    """Return all differences between two teams.

    An agent with another id and otherwise equal fields counts as renamed. Equal numbers are equal
    in any notation.
    """
    new_ids = renamed_agents(before, after)
    result = [*_roster(before, after, new_ids), *_topology(before, after, new_ids)]
    for was, now in pairs(before, after):
        result += agent_changes(was, now)
    parameters: dict[str, Component] = {f.name: "parameters" for f in fields(Execution)}
    started = before.execution.following(_ids_of_now(before, after))
    result += _fields(written(started), written(after.execution), parameters, ("execution",))
    return (*result, *_fields(_single(before), _single(after), SINGLE_FIELDS, ()))


def agent_changes(before: Agent, after: Agent) -> Iterator[FieldChange]:
    """Yield the differences between two agents, with the second agent's id."""
    path: Path = ("agents", after.id)
    single: dict[str, Component] = {
        field: owner for field, owner in AGENT_FIELDS.items() if field != "notes"
    }
    yield from _fields(written(before), written(after), single, path)
    noted, now = _notes(before), _notes(after)
    for place in sorted({*noted, *now}, key=_place_order):
        old, new = noted.get(place), now.get(place)
        if not same(old, new):
            yield FieldChange(
                component="notes",
                path=(*path, "notes", *place),
                before=old,
                after=new,
                taught=after.notes.taught.get("/".join(map(str, place)), ""),
            )


def pairs(before: Team, after: Team) -> Iterator[tuple[Agent, Agent]]:
    """Yield each remaining agent before and after; the first has the new ids of all agents."""
    now = _ids_of_now(before, after)
    for old, agent in before.agents.items():
        if (new := now[old]) is not None:
            yield agent.following(now), after.agents[new]


def _ids_of_now(before: Team, after: Team) -> Mapping[str, str | None]:
    """Return the new ids of agents by the old ones; None for removed agents."""
    new_ids = renamed_agents(before, after)
    now = {agent: new_ids.get(agent, agent) for agent in before.agents}
    return {old: new if new in after.agents else None for old, new in now.items()}


def _notes(agent: Agent) -> Mapping[Path, Any]:
    """Return an agent's notes by place: `("patches", "units")`, `("coaching",)`."""
    items = plain(agent.notes.untaught)
    named = {field: items[field] for field in NAMED_NOTES.values() if field in items}
    notes: dict[Path, Any] = {
        (field, name): text for field, texts in named.items() for name, text in texts.items()
    }
    return {**notes, ("coaching",): items["coaching"]} if "coaching" in items else notes


def _place_order(place: Path) -> tuple[Any, ...]:
    fields = (*NAMED_NOTES.values(), "coaching")
    return fields.index(str(place[0])), [natural(str(name)) for name in place[1:]]


def renamed_agents(before: Team, after: Team) -> Mapping[str, str]:
    """Return the new ids by the old ones of agents that changed nothing but their id."""
    fresh = [agent for agent_id, agent in after.agents.items() if agent_id not in before.agents]
    new_ids: dict[str, str] = {}
    for old, agent in before.agents.items():
        if old not in after.agents:
            value = _untaught(agent)
            same_agent = next((item for item in fresh if same(_untaught(item), value)), None)
            if same_agent is not None:
                fresh.remove(same_agent)
                new_ids[old] = same_agent.id
    return new_ids


def _untaught(agent: Agent) -> Mapping[str, Any]:
    return agent_value(replace(agent, notes=agent.notes.untaught))


def same(first: Any, second: Any) -> bool:
    """Return whether two plain values are equal in content and order; `600` equals `600.0`."""
    return first is second or json.dumps(equal_numbers_alike(first)) == json.dumps(
        equal_numbers_alike(second)
    )


def _roster(before: Team, after: Team, new_ids: Mapping[str, str]) -> Iterator[FieldChange]:
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


def _roster_change(path: Path, before: Any, after: Any) -> FieldChange:
    return FieldChange(component="roster", path=path, before=before, after=after)


def _topology(before: Team, after: Team, new_ids: Mapping[str, str]) -> Iterator[FieldChange]:
    old = [(new_ids.get(u, u), new_ids.get(v, v)) for u, v in before.edges]
    removed = [edge for edge in old if edge not in set(after.edges)]
    come = [edge for edge in after.edges if edge not in set(old)]
    if old != list(after.edges):
        yield FieldChange(
            component="topology", path=EDGES, before=plain(removed), after=plain(come)
        )
    output = new_ids.get(before.declared_output or "", before.declared_output)
    if output != after.declared_output:
        yield FieldChange(
            component="topology", path=OUTPUT, before=output, after=after.declared_output
        )


def _fields(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    owners: Mapping[str, Component],
    path: Path,
) -> Iterator[FieldChange]:
    for field, component in owners.items():
        if not same(before[field], after[field]):
            yield FieldChange(
                component=component,
                path=(*path, field),
                before=before[field],
                after=after[field],
            )


def written(part: Agent | Execution) -> Mapping[str, Any]:
    """Return every field of an agent or an execution as plain values, including defaults."""
    return {field.name: plain(getattr(part, field.name)) for field in fields(part)}


def _single(team: Team) -> Mapping[str, Any]:
    defaults = {"description": "", "backend": None, "constitution": "", "successful_tasks": []}
    return defaults | team_value(team)
