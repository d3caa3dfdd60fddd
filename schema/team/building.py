"""Builds teams and agents from plain values of the right shape; absent fields get defaults.

A team file may first need `groups` to expand its short forms, and `agent_document` to read the
agent files that it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..values.codec import from_value
from ..values.values import is_list, is_mapping, without_nulls
from .team import (
    Agent,
    Execution,
    Lineage,
    Notes,
    Recall,
    Recruit,
    Roster,
    Rounds,
    Skill,
    SolvedTask,
    Team,
)

if TYPE_CHECKING:
    from .conditions import Each, When

GROUPING = frozenset({"count", "like"})
"""The fields of an agent that exist only in files."""


def is_grouped(value: Any) -> bool:
    """Return whether a team's plain value has groups, or agents that copy another one."""
    return any(
        "*" in name or (is_mapping(fields) and not GROUPING.isdisjoint(fields))
        for name, fields in _agents_in(value)
    )


def using_files(value: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return the agents that use agent files, with their own fields in the team file."""
    agents = _agents_in(value)
    return {name: fields for name, fields in agents if is_mapping(fields) and "use" in fields}


def _agents_in(value: Any) -> Iterable[tuple[str, Any]]:
    agents = value.get("agents") if is_mapping(value) else None
    return agents.items() if is_mapping(agents) else ()


def team_of(value: Any) -> Team:
    """Build a team from a value of the right shape; absent fields get their defaults."""
    value = value if is_mapping(value) else {}
    topology: dict[str, Any] = value.get("topology") or {}
    shared: dict[str, Any] = value.get("defaults") or {}
    agents: dict[str, dict[str, Any]] = value.get("agents") or {}
    names = ("description", "backend", "constitution")
    return Team(
        name=value.get("name", ""),
        agents=MappingProxyType(
            {
                agent_id: agent_of(agent_id, {**shared, **(fields or {})})
                for agent_id, fields in agents.items()
            }
        ),
        reports_to=MappingProxyType(
            {
                reporter: tuple(dict.fromkeys(receiver for receiver in receivers if receiver))
                for reporter, receivers in (topology.get("reports_to") or {}).items()
                if receivers
            }
        ),
        declared_output=topology.get("output"),
        execution=_execution(value.get("execution") or {}),
        successful_tasks=tuple(
            SolvedTask(**{"q": "", **item}) for item in value.get("successful_tasks") or () if item
        ),
        lineage=lineage_of(value.get("lineage")),
        **{key: value[key] for key in names if key in value},
    )


def _execution(fields: dict[str, Any]) -> Execution:
    parts: dict[str, Any] = {
        "recruit": recruit_of,
        "rounds": rounds_of,
        "roster": roster_of,
    }
    record: dict[str, Any] = {key: item for key, item in fields.items() if item is not None}
    return Execution(
        **{key: parts[key](item) if key in parts else item for key, item in record.items()}
    )


def rounds_of(fields: dict[str, Any]) -> Rounds:
    """Build a team's rounds from values of the right shape."""
    names = {key: _names(fields.get(key)) for key in ("opening", "closing")}
    record: dict[str, Any] = {"most": 2, **fields, **names}
    if is_list(hears := record.get("hears")):
        record["hears"] = _names(hears)
    return Rounds(**record)


def recruit_of(fields: dict[str, Any]) -> Recruit:
    """Build a team's recruiting rule from values of the right shape."""
    record: dict[str, Any] = {"by": "", **fields, "among": _names(fields.get("among"))}
    return Recruit(**record)


def roster_of(fields: dict[str, Any]) -> Roster:
    """Build a team's open roster from values of the right shape."""
    record: dict[str, Any] = {"lead": "", **fields}
    return Roster(**record)


def agent_of(agent_id: str, fields: dict[str, Any]) -> Agent:
    """Build an agent from values of the right shape."""
    built = {"tools", "imports", "files", "notes", "recall", "when", "reads", "each"}
    others = {key: item for key, item in fields.items() if key not in built}
    return Agent(
        id=agent_id,
        tools=_names(fields.get("tools")),
        imports=_names(fields.get("imports")),
        files=None if fields.get("files") is None else _names(fields["files"]),
        notes=notes_of(fields.get("notes") or {}),
        recall=None if fields.get("recall") is None else _recall(fields["recall"]),
        when=None if fields.get("when") is None else when_of(fields["when"]),
        reads=readings_of(fields.get("reads") or {}),
        each=None if fields.get("each") is None else _each_of(fields["each"]),
        **others,
    )


def _names(listed: list[str | None] | None) -> tuple[str, ...]:
    return tuple(name for name in listed or () if name)


def notes_of(fields: dict[str, Any]) -> Notes:
    """Build an agent's notes from values of the right shape."""
    skills = {name: _skill(skill) for name, skill in (fields.get("skills") or {}).items()}
    return Notes(
        patches=MappingProxyType(fields.get("patches") or {}),
        teammates=MappingProxyType(fields.get("teammates") or {}),
        pairs=MappingProxyType(fields.get("pairs") or {}),
        skills=MappingProxyType(skills),
        coaching=fields.get("coaching", ""),
        taught=MappingProxyType(fields.get("taught") or {}),
    )


def _skill(fields: dict[str, Any]) -> Skill:
    metadata = MappingProxyType(fields.get("metadata") or {})
    record: dict[str, Any] = {"description": "", "body": "", **fields, "metadata": metadata}
    return Skill(**record)


def _recall(fields: dict[str, Any]) -> Recall:
    record: dict[str, Any] = {**fields, "kinds": _names(fields.get("kinds"))}
    return Recall(**record)


def when_of(fields: dict[str, Any]) -> When:
    """Build an agent's condition from values of the right shape."""
    from .conditions import When

    record: dict[str, Any] = without_nulls(fields)
    only, among = record.pop("is", None), record.pop("in", ())
    return When(**record, is_=only, in_=tuple(among))


def _each_of(fields: dict[str, Any]) -> Each:
    from .conditions import Each

    return Each(**without_nulls(fields))


def readings_of(fields: dict[str, Any]) -> Mapping[str, When]:
    """Build an agent's conditions for reading reports from values of the right shape."""
    return MappingProxyType({name: when_of(field) for name, field in fields.items() if field})


def lineage_of(fields: dict[str, Any] | None) -> Lineage | None:
    """Build a lineage from values of the right shape."""
    if not fields:
        return None
    written = without_nulls(fields)
    steps = [{"operator": "", **item} for item in written.get("steps", ()) if item]
    return from_value(Lineage, {"operator": "", **written, "steps": steps})
