"""All kinds of edits, and the kinds of each component."""

from __future__ import annotations

from typing import get_args

from .of_agents import SetModel, SetParameter, SetPrompt, SetRole
from .of_notes import SetNote
from .of_roster import AddAgent, OrderAgents, RemoveAgent, RenameAgent
from .of_team import SetBackend, SetExecution, SetMetadata
from .of_tools import GrantTool, RevokeTool, SetTools
from .of_topology import AddEdge, RemoveEdge, ReplaceTopology, SetOutput

PromptEdit = SetPrompt | SetRole
ModelEdit = SetModel
ToolEdit = SetTools | RevokeTool | GrantTool
TopologyEdit = ReplaceTopology | RemoveEdge | AddEdge | SetOutput
ParameterEdit = SetParameter | SetBackend | SetExecution
RosterEdit = RemoveAgent | RenameAgent | AddAgent | OrderAgents
NoteEdit = SetNote
MetadataEdit = SetMetadata

AgentEdit = PromptEdit | ModelEdit | ToolEdit | SetParameter | SetNote
"""Edits of one existing agent: a crossover may take these over, in addition to a whole topology."""

Edit = (
    RosterEdit
    | TopologyEdit
    | PromptEdit
    | ModelEdit
    | ToolEdit
    | ParameterEdit
    | NoteEdit
    | MetadataEdit
)
"""Any edit."""

KINDS: tuple[type[Edit], ...] = get_args(Edit)
"""All kinds, in the order in which they are applied and written."""

OFFERED: tuple[type[Edit], ...] = (
    SetPrompt,
    SetModel,
    GrantTool,
    RevokeTool,
    AddEdge,
    RemoveEdge,
    SetParameter,
    SetExecution,
    AddAgent,
    RemoveAgent,
    SetNote,
    SetMetadata,
)
"""The kinds that models may choose from, in the order in which they are offered."""
