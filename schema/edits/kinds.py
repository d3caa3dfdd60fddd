"""The kinds of edits: what can be changed about a team, and of which component each change is.

Every edit says *what* is to be so, never how to get there, and no two edits of a list may decide
the same thing. So a list of edits is a set: its order does not matter.

Edits name agents by the ids of the team that they make. Only `RemoveAgent` and the `agent` of a
`RenameAgent` mean ids of the team that they change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from ..team import Agent, Execution

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "AGENT_FIELDS",
    "COMPONENTS",
    "KINDS",
    "NAMED_NOTES",
    "NOTES",
    "TEAM_FIELDS",
    "AddAgent",
    "AddEdge",
    "AgentEdit",
    "Component",
    "Edit",
    "GrantTool",
    "MetadataEdit",
    "ModelEdit",
    "Note",
    "NoteEdit",
    "OrderAgents",
    "ParameterEdit",
    "PromptEdit",
    "RemoveAgent",
    "RemoveEdge",
    "RenameAgent",
    "ReplaceTopology",
    "RevokeTool",
    "RosterEdit",
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
    "ToolEdit",
    "TopologyEdit",
    "tag",
]

Component = Literal[
    "prompts", "model_id", "tools", "topology", "parameters", "roster", "notes", "metadata"
]
"""The parts of a team that are edited one at a time (EvoMAS §3.2.2 has the first four)."""

COMPONENTS: tuple[Component, ...] = get_args(Component)

Note = Literal["constitution", "patch", "teammate", "skill", "coaching"]
"""What can be noted: for the team, and about what an agent has learnt."""

NOTES: tuple[Note, ...] = get_args(Note)

NAMED_NOTES: Mapping[Note, str] = MappingProxyType(
    {"patch": "patches", "teammate": "teammates", "skill": "skills"}
)
"""The notes of which an agent has many, by names; and the field of its notes that holds them."""

AGENT_FIELDS: Mapping[str, Component] = MappingProxyType(
    {
        "role": "prompts",
        "agent_type": "parameters",
        "model_id": "model_id",
        "prompt": "prompts",
        "tools": "tools",
        "function": "parameters",
        "max_tokens": "parameters",
        "temperature": "parameters",
        "max_steps": "parameters",
        "timeout": "parameters",
        "output_schema": "parameters",
        "backend": "parameters",
        "notes": "notes",
        "recall": "parameters",
    }
)
"""Of which component each field of an agent is.

Models read a role and a prompt. All other fields but the model, the tools and the notes are
parameters: how an agent works and what it may spend. `member` is of none, as a team's lineage.
"""

TEAM_FIELDS: Mapping[str, Component] = MappingProxyType(
    {
        "name": "metadata",
        "description": "metadata",
        "backend": "parameters",
        "constitution": "notes",
        "agents": "roster",
        "topology": "topology",
        "execution": "parameters",
        "successful_tasks": "metadata",
    }
)
"""Of which component each field of a team is, but for what stands inside `agents`.

`lineage` is of none: the pool writes it, and no edit changes it.
"""


def _of(component: Component, among: Mapping[str, Component]) -> frozenset[str]:
    return frozenset(field for field, owner in among.items() if owner == component)


_PARAMETERS = _of("parameters", AGENT_FIELDS)
_EXECUTION = frozenset(field.name for field in fields(Execution))
_METADATA = _of("metadata", TEAM_FIELDS)


def _check(edit: SetParameter | SetExecution | SetMetadata, known: frozenset[str]) -> None:
    if edit.field not in known:
        raise ValueError(
            f"{type(edit).__name__} cannot set {edit.field!r}. It sets {', '.join(sorted(known))}."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SetPrompt:
    """Gives an agent other instructions: a text, or the id of a prompt file. Empty for none."""

    component: ClassVar[Component] = "prompts"

    agent: str
    prompt: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SetRole:
    """Says anew what an agent is in the team. Empty for nothing."""

    component: ClassVar[Component] = "prompts"

    agent: str
    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SetModel:
    """Gives an agent another backbone model, by its alias."""

    component: ClassVar[Component] = "model_id"

    agent: str
    model_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantTool:
    """Lets an agent use one more tool. A list of tools in alphabetical order stays in order."""

    component: ClassVar[Component] = "tools"

    agent: str
    tool: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RevokeTool:
    """Takes a tool from an agent."""

    component: ClassVar[Component] = "tools"

    agent: str
    tool: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SetTools:
    """Gives an agent exactly these tools, in this order."""

    component: ClassVar[Component] = "tools"

    agent: str
    tools: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AddEdge:
    """Lets one agent report to another. Edges in the order of the roster stay in order."""

    component: ClassVar[Component] = "topology"

    sender: str
    receiver: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveEdge:
    """Lets an agent no longer report to another."""

    component: ClassVar[Component] = "topology"

    sender: str
    receiver: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SetOutput:
    """Declares whose output is the team's answer. None leaves it to Kahn's order."""

    component: ClassVar[Component] = "topology"

    agent: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaceTopology:
    """Says anew who reports to whom, for the whole team, and whose output is the answer.

    A crossover takes a parent's topology whole with `ReplaceTopology(reports_to=parent.reports_to,
    output=parent.declared_output)`.
    """

    component: ClassVar[Component] = "topology"

    reports_to: Mapping[str, tuple[str, ...]]
    output: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SetParameter:
    """Sets how an agent works and what it may spend: a field whose component is `parameters`.

    None goes back to the default.

    Raises:
        ValueError: The field is of another component, or an agent has no such field.
    """

    component: ClassVar[Component] = "parameters"

    agent: str
    field: str
    value: Any

    def __post_init__(self) -> None:
        _check(self, _PARAMETERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class SetBackend:
    """Sets the backend of agents that neither name nor imply one. None for the default."""

    component: ClassVar[Component] = "parameters"

    backend: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SetExecution:
    """Sets how the team is run: a field of `Execution`.

    Raises:
        ValueError: There is no such field.
    """

    component: ClassVar[Component] = "parameters"

    field: str
    value: Any

    def __post_init__(self) -> None:
        _check(self, _EXECUTION)


@dataclass(frozen=True, kw_only=True, slots=True)
class AddAgent:
    """Takes an agent into the team, with its edges.

    Attributes:
        agent: The agent.
        before: The agent of the team that it stands ahead of in the file. None: it stands last.
        reports_to: Who receives its output.
        receives_from: Whose output it receives. An edge between two new agents is named by one.
        is_output: Whether its output is the team's answer from now on. Then whoever would report to
            nobody, as the agent whose output was the answer, reports to it.
    """

    component: ClassVar[Component] = "roster"

    agent: Agent
    before: str | None = None
    reports_to: tuple[str, ...] = ()
    receives_from: tuple[str, ...] = ()
    is_output: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveAgent:
    """Takes an agent out of the team, with its edges; where it was the output, that as well.

    Whoever would then report to nobody any more reports to the next agent that heard of its work
    through the one that went.
    """

    component: ClassVar[Component] = "roster"

    agent: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RenameAgent:
    """Gives an agent another id, in the topology as well. Two agents may swap theirs."""

    component: ClassVar[Component] = "roster"

    agent: str
    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderAgents:
    """Says in which order the agents stand in the file. Nothing else depends on it."""

    component: ClassVar[Component] = "roster"

    agents: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SetNote:
    """Sets one note: the team's constitution, or something that one agent has learnt.

    Attributes:
        agent: Whose note it is. None: the team's.
        note: Of which kind it is. The team has a constitution; an agent has patches, notes on
            teammates and skills, each by a name, and coaching.
        name: What the note is called: of a note on a teammate, the teammate.
        text: What it says; of a skill, its body. Empty: there is to be no such note.
        description: What a skill is good for.

    Raises:
        ValueError: There is no such note, or it lacks something.
    """

    component: ClassVar[Component] = "notes"

    agent: str | None
    note: Note
    name: str = ""
    text: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        if self.note not in NOTES:
            raise ValueError(f"there is no note {self.note!r}. There are {', '.join(NOTES)}.")
        if (self.agent is None) != (self.note == "constitution"):
            raise ValueError("a constitution is the team's; every other note is an agent's.")
        if bool(self.name) != (self.note in NAMED_NOTES):
            named = "needs a name" if not self.name else "has no name"
            raise ValueError(f"a note of the kind {self.note} {named}.")
        if bool(self.description) != (self.note == "skill" and bool(self.text)):
            raise ValueError("a skill has a body and a description; nothing else is described.")


@dataclass(frozen=True, kw_only=True, slots=True)
class SetMetadata:
    """Sets what is said about a team and never executed. Solved tasks are plain values, as in YAML.

    Raises:
        ValueError: The field is of another component, or there is none.
    """

    component: ClassVar[Component] = "metadata"

    field: str
    value: Any

    def __post_init__(self) -> None:
        _check(self, _METADATA)


PromptEdit = SetPrompt | SetRole
ModelEdit = SetModel
ToolEdit = SetTools | RevokeTool | GrantTool
TopologyEdit = ReplaceTopology | RemoveEdge | AddEdge | SetOutput
ParameterEdit = SetParameter | SetBackend | SetExecution
RosterEdit = RemoveAgent | RenameAgent | AddAgent | OrderAgents
NoteEdit = SetNote
MetadataEdit = SetMetadata

AgentEdit = PromptEdit | ModelEdit | ToolEdit | SetParameter | SetNote
"""Edits of one agent in its place: what a crossover may take over, beside a whole topology."""

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


def tag(kind: type[Edit]) -> str:
    """Give a kind's name in JSON: `set_prompt` for `SetPrompt`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
