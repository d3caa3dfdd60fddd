"""What an edit decides, so that no two edits of a list decide the same thing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .kinds import (
    NAMED_NOTES,
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
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..problems import Path
    from .kinds import Edit

__all__ = ["claims", "conflicts", "settled"]

EDGES = ("topology", "reports_to")


def conflicts(edits: Sequence[Edit]) -> Iterator[tuple[int, int, Path]]:
    """Find edits that decide the same thing, or one the whole of which the other decides a part.

    Yields:
        The positions of both, and what is decided twice.
    """
    owners: dict[Path, int] = {}
    for index, edit in enumerate(edits):
        for claim in claims(edit):
            if (first := owners.setdefault(claim, index)) != index:
                yield first, index, claim
    for claim, index in owners.items():
        wholes = (owners.get(claim[:depth], index) for depth in range(1, len(claim)))
        for whole in {*wholes} - {index}:
            yield min(whole, index), max(whole, index), claim


def settled(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Settle what a writer of edits has said twice, so that what was said last or firmest holds.

    * Of edits of one kind about the same thing, the last counts; so it is with several new agents
      of which each is to give the answer, and the others report to that one.
    * An agent that a new one hears or reports to stays.
    * Of an agent that leaves, nothing else counts.

    Edits that contradict each other in no such way stay as they are; so do all edits of a list that
    `apply` could make.
    """
    latest: dict[tuple[type[Edit], Path], Edit] = {}
    for edit in edits:
        latest[type(edit), claims(edit)[0]] = edit
    outputs = [edit for edit in latest.values() if isinstance(edit, AddAgent) and edit.is_output]
    for edit in outputs[:-1]:
        latest[AddAgent, claims(edit)[0]] = replace(edit, is_output=False)
    stay = {id_ for edit in latest.values() for id_ in _heard_by_new(edit)}
    made = {edit.agent.id for edit in latest.values() if isinstance(edit, AddAgent)}
    made |= {edit.id for edit in latest.values() if isinstance(edit, RenameAgent)}
    removed = {edit.agent for edit in latest.values() if isinstance(edit, RemoveAgent)}
    void, gone = removed & stay - made, removed - stay - made
    return tuple(
        edit
        for edit in latest.values()
        if not (isinstance(edit, RemoveAgent) and edit.agent in void)
        and gone.isdisjoint(_named(edit))
    )


def _heard_by_new(edit: Edit) -> tuple[str, ...]:
    return (*edit.reports_to, *edit.receives_from) if isinstance(edit, AddAgent) else ()


def _named(edit: Edit) -> tuple[str, ...]:
    """Name the agents that an edit is about, in the team that it makes."""
    match edit:
        case AddEdge() | RemoveEdge():
            return (edit.sender, edit.receiver)
        case SetPrompt() | SetRole() | SetModel() | SetTools() | RevokeTool() | GrantTool():
            return (edit.agent,)
        case SetParameter():
            return (edit.agent,)
        case SetNote():
            return (edit.agent,) if edit.agent else ()
        case _:
            return ()


def claims(edit: Edit) -> tuple[Path, ...]:
    """Name what an edit decides: places in the team that it makes, ids, agents of the parent."""
    return _CLAIMS[type(edit)](edit)


def _claims_of_new(edit: AddAgent) -> tuple[Path, ...]:
    new = edit.agent.id
    sent = ((*EDGES, new, receiver) for receiver in edit.reports_to)
    received = ((*EDGES, sender, new) for sender in edit.receives_from)
    output = [("topology", "output")] if edit.is_output else []
    return (("ids", new), ("agents", new), *sent, *received, *output)


def _place_of_note(edit: SetNote) -> Path:
    if edit.agent is None:
        return (edit.note,)
    named = (NAMED_NOTES[edit.note], edit.name) if edit.name else (edit.note,)
    return ("agents", edit.agent, "notes", *named)


_CLAIMS: Mapping[type[Edit], Callable[[Any], tuple[Path, ...]]] = {
    RemoveAgent: lambda edit: (("parent", edit.agent),),
    RenameAgent: lambda edit: (("parent", edit.agent), ("ids", edit.id)),
    AddAgent: _claims_of_new,
    OrderAgents: lambda _: (("order",),),
    ReplaceTopology: lambda _: (("topology",),),
    RemoveEdge: lambda edit: ((*EDGES, edit.sender, edit.receiver),),
    AddEdge: lambda edit: ((*EDGES, edit.sender, edit.receiver),),
    SetOutput: lambda _: (("topology", "output"),),
    SetPrompt: lambda edit: (("agents", edit.agent, "prompt"),),
    SetRole: lambda edit: (("agents", edit.agent, "role"),),
    SetModel: lambda edit: (("agents", edit.agent, "model_id"),),
    SetTools: lambda edit: (("agents", edit.agent, "tools"),),
    RevokeTool: lambda edit: (("agents", edit.agent, "tools", edit.tool),),
    GrantTool: lambda edit: (("agents", edit.agent, "tools", edit.tool),),
    SetParameter: lambda edit: (("agents", edit.agent, edit.field),),
    SetBackend: lambda _: (("backend",),),
    SetExecution: lambda edit: (("execution", edit.field),),
    SetNote: lambda edit: (_place_of_note(edit),),
    SetMetadata: lambda edit: ((edit.field,),),
}
