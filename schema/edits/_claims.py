"""What an edit decides, so that no two edits of a list decide the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .kinds import (
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

__all__ = ["claims", "conflicts"]

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


def claims(edit: Edit) -> tuple[Path, ...]:
    """Name what an edit decides: places in the team that it makes, ids, agents of the parent."""
    return _CLAIMS[type(edit)](edit)


def _claims_of_new(edit: AddAgent) -> tuple[Path, ...]:
    new = edit.agent.id
    sent = ((*EDGES, new, receiver) for receiver in edit.reports_to)
    received = ((*EDGES, sender, new) for sender in edit.receives_from)
    return (("ids", new), ("agents", new), *sent, *received)


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
    SetNote: lambda edit: ((edit.field,),),
    SetMetadata: lambda edit: ((edit.field,),),
}
