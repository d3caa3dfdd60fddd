"""The origin of teams: ancestors, descendants, and the origin of each field of a team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ...schema.edits import changes, summary
from ...schema.team.team import LineageStep, Team
from ...schema.team.writing import team_value
from ...schema.values.problems import Path, dotted
from ..ledger.members import Member
from ..ledger.records import TrialRecord

SINGLE_FIELDS = ("description", "backend", "constitution")


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The origin of a field of a team.

    Attributes:
        field: The field, dotted: `agents.judge.prompt`.
        team: The team that first had this value: the team itself, or an ancestor.
    """

    field: str
    value: Any
    team: str
    operator: str


Record = TypeVar("Record", bound=TrialRecord)
"""Teams, or agents."""


def ancestors(teams: Mapping[str, Record], name: str) -> dict[str, Record]:
    """Return a team or an agent and all its ancestors, parents before their children.

    Args:
        teams: All teams of the pool, or all agents, parents before their children.
    """
    texts = {name}
    for team in reversed(tuple(teams)):
        if team in texts:
            texts.update(teams[team].lineage.parents)
    return {team: member for team, member in teams.items() if team in texts}


def descendants(teams: Mapping[str, Record], name: str) -> dict[str, Record]:
    """Return a team or an agent and all its descendants, parents before their children."""
    fields = {name: teams[name]}
    for member in teams.values():
        if not fields.keys().isdisjoint(member.lineage.parents):
            fields[member.name] = member
    return fields


def blame(teams: Mapping[str, Member], name: str) -> tuple[Origin, ...]:
    """Return the origin of each field of a team.

    A value equal to a parent's comes from there; if several parents have it, from the first of
    them. A merely renamed agent keeps the origins of its fields.

    Args:
        teams: All teams of the pool, parents before their children.

    Raises:
        StorageError: The file of the team or of an ancestor is damaged.
    """
    origins: dict[str, dict[str, Origin]] = {}
    for member in ancestors(teams, name).values():
        setters = {field: step.operator for step in member.lineage.steps for field in step.fields}
        fields = {
            field: Origin(
                field=field,
                value=value,
                team=member.name,
                operator=setters.get(field, member.lineage.operator),
            )
            for field, value in _fields(member.team).items()
        }
        for parent in reversed(member.lineage.parents):
            for field, old in _inherited(teams[parent].team, member.team).items():
                there = origins[parent][old]
                fields[field] = replace(there, field=field, value=fields[field].value)
        origins[member.name] = fields
    return tuple(origins[name].values())


def steps_to(
    child: Team, operator: str, reason: str, *sources: tuple[Team, Sequence[LineageStep]]
) -> tuple[LineageStep, ...]:
    """Return the steps to a child, with this step last, from teams that may have steps themselves.

    Each field of the child belongs to the step that set its value: an earlier one if a source has
    this value, else this one.

    Args:
        sources: The sources with the steps that led to each. Edits are described relative to the
            first. A team of the pool has no steps: its values are its own.

    Returns:
        The steps of all sources, and this one.
    """
    base, _ = sources[0]
    edits = summary(base, replace(child, name=base.name))
    last = LineageStep(operator=operator, edits=edits, reason=reason)
    # A step common to several sources appears once, though its remaining fields may differ.
    earlier = (replace(step, fields=()) for _, steps in sources for step in steps)
    setters: dict[str, LineageStep | None] = dict.fromkeys(_fields(child), last)
    for team, steps in reversed(sources):
        before = {field: replace(step, fields=()) for step in steps for field in step.fields}
        setters |= {field: before.get(old) for field, old in _inherited(team, child).items()}
    return tuple(
        replace(
            fromkey, fields=tuple(field for field, setter in setters.items() if setter == fromkey)
        )
        for fromkey in dict.fromkeys((*earlier, last))
    )


def _inherited(parent: Team, child: Team) -> dict[str, str]:
    """Return the fields of a child that equal a parent's, each with its name there."""
    roster = [change for change in changes(parent, child) if change.component == "roster"]
    removed = {str(change.path[1]) for change in roster if change.after is None}
    new_ids = {str(change.path[1]): str(change.after) for change in roster if len(change.path) == 3}
    stayed = _with_ids(parent, {agent: agent for agent in parent.agents if agent not in removed})
    alike = _with_ids(stayed, {agent: new_ids.get(agent, agent) for agent in stayed.agents})
    values = _fields(child)
    return {
        field: old
        for old, (field, value) in zip(_fields(stayed), _fields(alike).items(), strict=True)
        if field in values and values[field] == value
    }


def _with_ids(team: Team, ids: Mapping[str, str]) -> Team:
    """Return a team with only these agents, under these ids."""
    return replace(
        team,
        agents={ids[name]: replace(team.agents[name], id=ids[name]) for name in ids},
        reports_to={
            ids[sender]: tuple(ids[receiver] for receiver in receivers if receiver in ids)
            for sender, receivers in team.reports_to.items()
            if sender in ids
        },
        declared_output=ids.get(team.declared_output or ""),
    )


def _fields(team: Team) -> dict[str, Any]:
    """Return a team's written fields one by one, except its name and its history."""
    return {dotted(path): value for path, value in _items(team_value(team))}


def _items(value: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    yield from (((field,), value[field]) for field in SINGLE_FIELDS if field in value)
    for agent_id, fields in value["agents"].items():
        yield from ((("agents", agent_id, field), item) for field, item in fields.items())
    topology = value.get("topology", {})
    for sender, receivers in topology.get("reports_to", {}).items():
        yield ("topology", "reports_to", sender), sorted(receivers)
    if "output" in topology:
        yield ("topology", "output"), topology["output"]
    yield from ((("execution", field), item) for field, item in value.get("execution", {}).items())
