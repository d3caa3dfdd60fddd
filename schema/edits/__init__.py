"""Edits: the algebra in which teams change.

A list of edits is a difference of teams: `apply(before, diff(before, after))` is `after`. Every
edit names the component that it touches. The edited team is loaded like any file, so an edit never
makes a team that does not load.
"""

from .applying import RejectedEdits, apply
from .changes import FieldChange, changes
from .components import COMPONENTS, Component
from .difference import agent_edits, diff
from .in_place import rewritten
from .json_form import edits_from_json, edits_to_json, edits_to_values
from .kinds.kinds import KINDS, AgentEdit, Edit
from .kinds.of_agents import SetModel, SetParameter, SetPrompt, SetRole
from .kinds.of_notes import Note, SetNote
from .kinds.of_roster import AddAgent, OrderAgents, RemoveAgent, RenameAgent
from .kinds.of_team import SetBackend, SetExecution, SetMetadata
from .kinds.of_tools import GrantTool, RevokeTool, SetTools
from .kinds.of_topology import AddEdge, RemoveEdge, ReplaceTopology, SetOutput
from .offer._structure import is_tied, new_edges, spare_agents, spare_edges
from .offer.constrained import component_schema, components_schema
from .offer.mutation import Mutation, components
from .offer.note_offer import NoteOffer
from .provenance import taught
from .words import Paint, Tone, plainly, summary, unified, words

__all__ = [
    "COMPONENTS",
    "KINDS",
    "AddAgent",
    "AddEdge",
    "AgentEdit",
    "Component",
    "Edit",
    "FieldChange",
    "GrantTool",
    "Mutation",
    "Note",
    "NoteOffer",
    "OrderAgents",
    "Paint",
    "RejectedEdits",
    "RemoveAgent",
    "RemoveEdge",
    "RenameAgent",
    "ReplaceTopology",
    "RevokeTool",
    "SetBackend",
    "SetExecution",
    "SetMetadata",
    "SetModel",
    "SetNote",
    "SetOutput",
    "SetParameter",
    "SetPrompt",
    "SetRole",
    "SetTools",
    "Tone",
    "agent_edits",
    "apply",
    "changes",
    "component_schema",
    "components",
    "components_schema",
    "diff",
    "edits_from_json",
    "edits_to_json",
    "edits_to_values",
    "is_tied",
    "new_edges",
    "plainly",
    "rewritten",
    "spare_agents",
    "spare_edges",
    "summary",
    "taught",
    "unified",
    "words",
]
