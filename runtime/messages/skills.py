"""Skills: an agent with tools reads one when it needs it; any other agent is shown all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...schema.team.team import READ_SKILL
from ..tools.tool import GrantedTool, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Skill
    from ..plan.plan import PlannedAgent
    from ..record.once import Once
    from ..record.trace import Emit
    from ..repository.workspace import Workspace


def reader(
    planned: PlannedAgent, workspace: Workspace, emit: Emit, once: Once
) -> Mapping[str, GrantedTool]:
    """Return the tool with which an agent reads its skills, by its name."""
    tool = _read_skill(planned.agent.notes.skills)
    return {tool.name: GrantedTool(tool=tool, workspace=workspace, emit=emit, once=once)}


def _read_skill(skills: Mapping[str, Skill]) -> Tool:
    async def run(arguments: Mapping[str, Any], workspace: Workspace) -> str:
        del workspace
        return skills[arguments["name"]].body

    name = {"type": "string", "enum": [*skills], "description": "The skill."}
    return Tool(
        name=READ_SKILL,
        description="Read how one of your skills is done.",
        parameters={
            "type": "object",
            "properties": {"name": name},
            "required": ["name"],
            "additionalProperties": False,
        },
        run=run,
    )
