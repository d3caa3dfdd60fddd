"""Skills: an agent with tools reads one when it needs it; any other agent is shown all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...schema.team.team import READ_SKILL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Skill
    from ..plan.plan import PlannedAgent
    from ..record.once import Once
    from ..record.trace import Emit
    from ..repository.workspace import Workspace
    from ..tools.tool import GrantedTool, Show, Tool, Waiting
    from ..tools.toolbox import Toolbox


def looks_skills_up(planned: PlannedAgent) -> bool:
    """Return whether an agent has skills, and a backend with tools."""
    return bool(planned.agent.notes.skills) and takes_tools(planned)


def takes_tools(planned: PlannedAgent) -> bool:
    """Return whether an agent's backend supports tools."""
    with_tool = replace(planned.agent, tools=(*planned.agent.tools, READ_SKILL))
    return not any(planned.runner.objections(with_tool))


def tools_of(
    planned: PlannedAgent,
    toolbox: Toolbox,
    workspace: Workspace,
    emit: Emit,
    once: Once,
    *,
    waiting: Waiting,
    show: Show,
) -> Mapping[str, GrantedTool]:
    """Return the tools that a team grants an agent, and the tool that reads its skills."""
    granted = toolbox.granted(planned.agent.tools, workspace, emit, once, waiting, show=show)
    if not looks_skills_up(planned):
        return granted
    from ..tools.tool import GrantedTool

    tool = _read_skill(planned.agent.notes.skills)
    own = GrantedTool(tool=tool, workspace=workspace, emit=emit, once=once)
    return {**granted, tool.name: own}


def _read_skill(skills: Mapping[str, Skill]) -> Tool:
    from ..tools.tool import Tool

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
