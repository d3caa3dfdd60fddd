"""The components of a team that are edited one at a time, and the component of each field."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

Component = Literal[
    "prompts", "model_id", "tools", "topology", "parameters", "roster", "notes", "metadata"
]
"""The parts of a team that are edited one at a time (EvoMAS §3.2.2 has the first four)."""

COMPONENTS: tuple[Component, ...] = get_args(Component)

AGENT_FIELDS: Mapping[str, Component] = MappingProxyType(
    {
        "role": "prompts",
        "agent_type": "parameters",
        "model_id": "model_id",
        "prompt": "prompts",
        "tools": "tools",
        "imports": "parameters",
        "files": "parameters",
        "function": "parameters",
        "max_tokens": "parameters",
        "temperature": "parameters",
        "top_p": "parameters",
        "effort": "parameters",
        "max_steps": "parameters",
        "planning_interval": "parameters",
        "timeout": "parameters",
        "output_schema": "parameters",
        "backend": "parameters",
        "when": "parameters",
        "reads": "parameters",
        "each": "parameters",
        "notes": "notes",
        "recall": "parameters",
    }
)
"""The component of each field of an agent.

Role and prompt are `prompts`. All other fields but the model, the tools and the notes are
parameters: how an agent works and what it may spend. `member` has no component, like a team's
lineage."""

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
"""The component of each field of a team, except those inside `agents`.

`lineage` has none: the pool writes it, and no edit changes it."""
