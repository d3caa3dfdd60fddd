"""Makes edits to a team's plain value, kind by kind.

What a value may be is not asked here: the value is loaded afterwards, as any file is. An edit is
objected to only where it has no place in the team.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..hints import did_you_mean
from ..problems import quoted
from ..team import Agent, Notes, Team, natural
from ..values import plain
from ..writing import team_value
from ._claims import claims
from ._edges import insert, insert_edge, join_ends
from .kinds import (
    KINDS,
    AddAgent,
    AddEdge,
    GrantTool,
    OrderAgents,
    RemoveAgent,
    RemoveEdge,
    RenameAgent,
    ReplaceTopology,
    RevokeTool,
    SetBackend,
    SetExecution,
    SetMetadata,
    SetModel,
    SetNote,
    SetOutput,
    SetParameter,
    SetPrompt,
    SetRole,
    SetTools,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from ..problems import Path
    from .kinds import Edit

__all__ = ["Objection", "agent_value", "draft", "in_canonical_order"]

Value = dict[str, Any]

Objection = tuple["Edit", str, str]
"""An edit, the field of it that has no place, and why."""


def draft(
    team: Team, edits: Sequence[Edit], *, joined: bool = True
) -> tuple[Value, list[Objection]]:
    """Make edits to a copy of a team's plain value.

    Args:
        team: The team. It stays as it is.
        edits: Edits of which no two decide the same thing. Their order does not matter.
        joined: Whether agents that removals cut off are joined to those further down.

    Returns:
        The value, which need not load, and the edits that have no place in it.
    """
    value = {"execution": {}, **team_value(replace(team, lineage=None))}
    value["topology"] = {"reports_to": {}, **value.get("topology", {})}
    ordered = in_canonical_order(edits)
    objections: list[Objection] = []
    for kind in KINDS:
        if chosen := [edit for edit in ordered if type(edit) is kind]:
            objections += _CHANGES[kind](value, chosen)
    if joined:
        join_ends(team, value, ordered)
    value["topology"] = {key: item for key, item in value["topology"].items() if item}
    empty = {key for key in ("topology", "execution") if not value[key]}
    return {key: item for key, item in value.items() if key not in empty}, objections


def in_canonical_order(edits: Sequence[Edit]) -> list[Edit]:
    """Sort edits as they are applied and written: by kind, then by what they decide."""

    def key(edit: Edit) -> tuple[Any, ...]:
        return KINDS.index(type(edit)), [natural(str(part)) for part in claims(edit)[0]]

    return sorted(edits, key=key)


def agent_value(agent: Agent) -> Value:
    """Give an agent's fields as plain values in the schema's order, as under `agents` in a file."""
    return team_value(Team(name="one", agents={agent.id: agent}))["agents"][agent.id]


def _remove_agents(value: Value, edits: Sequence[RemoveAgent]) -> Iterator[Objection]:
    gone = {edit.agent for edit in edits}
    for edit in edits:
        if edit.agent not in value["agents"]:
            yield edit, "agent", _no_agent(edit.agent, value)
        value["agents"].pop(edit.agent, None)
    _follow(value, dict.fromkeys(gone))
    topology = value["topology"]
    topology["reports_to"] = {
        sender: [receiver for receiver in receivers if receiver not in gone]
        for sender, receivers in topology["reports_to"].items()
        if sender not in gone and not gone.issuperset(receivers)
    }
    if topology.get("output") in gone:
        del topology["output"]


def _rename_agents(value: Value, edits: Sequence[RenameAgent]) -> Iterator[Objection]:
    new = {edit.agent: edit.id for edit in edits}
    for edit in edits:
        if edit.agent not in value["agents"]:
            yield edit, "agent", _no_agent(edit.agent, value)
        elif edit.id in value["agents"] and edit.id not in new:
            yield edit, "id", _taken(edit.id)
    value["agents"] = {new.get(old, old): fields for old, fields in value["agents"].items()}
    _follow(value, new)
    topology = value["topology"]
    topology["reports_to"] = {
        new.get(sender, sender): [new.get(receiver, receiver) for receiver in receivers]
        for sender, receivers in topology["reports_to"].items()
    }
    if output := topology.get("output"):
        topology["output"] = new.get(output, output)


def _add_agents(value: Value, edits: Sequence[AddAgent]) -> Iterator[Objection]:
    old: Value = value["agents"]
    added: dict[str | None, list[AddAgent]] = {}
    for edit in edits:
        if edit.agent.id in old:
            yield edit, "agent", _taken(edit.agent.id)
        elif edit.before is not None and edit.before not in old:
            yield edit, "before", _no_agent(edit.before, value)
        else:
            added.setdefault(edit.before, []).append(edit)
    value["agents"] = {}
    for place in (*old, None):
        value["agents"] |= {edit.agent.id: agent_value(edit.agent) for edit in added.get(place, ())}
        if place is not None:
            value["agents"][place] = old[place]
    for edit in edits:
        for receiver in edit.reports_to:
            insert_edge(value, edit.agent.id, receiver)
        for sender in edit.receives_from:
            insert_edge(value, sender, edit.agent.id)


def _order_agents(value: Value, edits: Sequence[OrderAgents]) -> Iterator[Objection]:
    for edit in edits:
        if sorted(edit.agents) == sorted(value["agents"]):
            value["agents"] = {one: value["agents"][one] for one in edit.agents}
        else:
            yield edit, "agents", f"not each agent of the team once: {', '.join(value['agents'])}."


def _replace_topology(value: Value, edits: Sequence[ReplaceTopology]) -> Iterator[Objection]:
    for edit in edits:
        value["topology"] = {"reports_to": plain(edit.reports_to), "output": edit.output}
    return iter(())


def _remove_edges(value: Value, edits: Sequence[RemoveEdge]) -> Iterator[Objection]:
    reports_to: dict[str, list[str]] = value["topology"]["reports_to"]
    for edit in edits:
        receivers = reports_to.get(edit.sender, [])
        if edit.sender not in value["agents"]:
            yield edit, "sender", _no_agent(edit.sender, value)
        elif edit.receiver in receivers:
            receivers.remove(edit.receiver)
        else:
            said = f"It reports to {', '.join(receivers)}." if receivers else "It has no receivers."
            what = f"{edit.sender} does not report to {quoted(edit.receiver)}."
            yield edit, "receiver", f"{what} {said}"
    value["topology"]["reports_to"] = {one: kept for one, kept in reports_to.items() if kept}


def _add_edges(value: Value, edits: Sequence[AddEdge]) -> Iterator[Objection]:
    for edit in edits:
        insert_edge(value, edit.sender, edit.receiver)
    return iter(())


def _set_output(value: Value, edits: Sequence[SetOutput]) -> Iterator[Objection]:
    for edit in edits:
        value["topology"]["output"] = edit.agent
    return iter(())


def _set_field(value: Value, edits: Sequence[Any]) -> Iterator[Objection]:
    """Set a field of an agent to what the edit has under that name."""
    for edit in edits:
        field = str(claims(edit)[0][-1])
        item = edit.value if isinstance(edit, SetParameter) else getattr(edit, field)
        if edit.agent in value["agents"]:
            _put(value["agents"][edit.agent], field, item)
        else:
            yield edit, "agent", _no_agent(edit.agent, value)


def _change_tools(value: Value, edits: Sequence[GrantTool | RevokeTool]) -> Iterator[Objection]:
    for edit in edits:
        if edit.agent not in value["agents"]:
            yield edit, "agent", _no_agent(edit.agent, value)
            continue
        tools: list[str] = value["agents"][edit.agent].setdefault("tools", [])
        if isinstance(edit, GrantTool):
            insert(tools, edit.tool, {tool: (tool,) for tool in (*tools, edit.tool)})
        elif edit.tool in tools:
            tools.remove(edit.tool)
        else:
            has = f"It has {', '.join(tools)}." if tools else "It has none."
            yield edit, "tool", f"{edit.agent} has no tool {quoted(edit.tool)}. {has}"


def _set_team_field(value: Value, edits: Sequence[Any]) -> Iterator[Objection]:
    for edit in edits:
        if isinstance(edit, SetBackend):
            _put(value, "backend", edit.backend)
        else:
            place = value["execution"] if isinstance(edit, SetExecution) else value
            _put(place, edit.field, edit.value)
    return iter(())


def _follow(value: Value, new_ids: Mapping[str, str | None]) -> None:
    """Have the notes on teammates follow those who got other ids, and drop those on who went."""
    for agent in value["agents"].values():
        notes = agent.get("notes", {})
        if noted := notes.get("teammates"):
            followed = Notes(teammates=noted).following(new_ids).teammates
            _put_note(agent, ("teammates",), {**followed})


def _set_notes(value: Value, edits: Sequence[SetNote]) -> Iterator[Objection]:
    for edit in edits:
        place = claims(edit)[0]
        if edit.agent is None:
            _put(value, edit.note, edit.text)
        elif edit.agent not in value["agents"]:
            yield edit, "agent", _no_agent(edit.agent, value)
        else:
            skill = {"description": edit.description, "body": edit.text}
            said = skill if edit.note == "skill" and edit.text else edit.text
            _put_note(value["agents"][edit.agent], place[3:], said)


def _put_note(agent: Value, place: Path, said: Any) -> None:
    """Write a note of an agent; an empty one goes, and what it leaves empty."""
    names = ["notes", *map(str, place)]
    folders = [agent]
    for name in names[:-1]:
        folders.append(folders[-1].setdefault(name, {}))
    folders[-1][names[-1]] = said
    for folder, name in zip(reversed(folders), reversed(names), strict=True):
        if not folder[name]:
            del folder[name]


_CHANGES: Mapping[type[Edit], Callable[[Value, Any], Iterator[Objection]]] = {
    RemoveAgent: _remove_agents,
    RenameAgent: _rename_agents,
    AddAgent: _add_agents,
    OrderAgents: _order_agents,
    ReplaceTopology: _replace_topology,
    RemoveEdge: _remove_edges,
    AddEdge: _add_edges,
    SetOutput: _set_output,
    SetPrompt: _set_field,
    SetRole: _set_field,
    SetModel: _set_field,
    SetTools: _set_field,
    RevokeTool: _change_tools,
    GrantTool: _change_tools,
    SetParameter: _set_field,
    SetBackend: _set_team_field,
    SetExecution: _set_team_field,
    SetNote: _set_notes,
    SetMetadata: _set_team_field,
}


def _put(fields: Value, field: str, item: Any) -> None:
    """Write a field; None and an empty text leave it at its default."""
    if item is None or item == "":
        fields.pop(field, None)
    else:
        fields[field] = plain(item)


def _no_agent(name: str, value: Value) -> str:
    known: Collection[str] = value["agents"]
    hint = did_you_mean(name, known) or f" Agents: {', '.join(known)}."
    return f"no agent {quoted(name)}.{hint}"


def _taken(name: str) -> str:
    return f"there is an agent {quoted(name)} already. Choose another id."
