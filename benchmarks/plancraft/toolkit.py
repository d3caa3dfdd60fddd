"""The crafting table as a tool: each attempt of an agent has its own episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...runtime.tools import Tool, ToolError, Toolkit
from ...schema.values.codec import from_value
from .episode import CraftingEpisode, CraftingWorld

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...runtime.repository.workspace import Workspace

SCORER = "plancraft"
"""The scorer whose options are the tools' world."""

_EPISODE = "plancraft"
_SUCCESS = "The item is made. The task has ended: give your final answer."
_GIVEN_UP = "You have said that it is impossible. The task has ended: give your final answer."
_USED_UP = "That was the last action. The task has ended: give your final answer."
_TOO_LATE = "The task had ended before, so nothing was done. Give your final answer."


async def _act(arguments: Mapping[str, Any], workspace: Workspace) -> str:
    episode = _episode(workspace)
    if episode.is_over:
        return _TOO_LATE
    text = episode.act(arguments["action"])
    return "\n\n".join(part for part in (text, _end(episode)) if part)


async def _observe(_arguments: Mapping[str, Any], workspace: Workspace) -> str:
    episode = _episode(workspace)
    return "\n\n".join(part for part in (episode.observation, _end(episode)) if part)


def _end(episode: CraftingEpisode) -> str:
    if episode.has_target:
        return _SUCCESS
    if episode.has_given_up:
        return _GIVEN_UP
    return _USED_UP if episode.is_over else ""


def _episode(workspace: Workspace) -> CraftingEpisode:
    """Return the agent's own episode, which begins with its first call."""
    scorer = workspace.home.task.scorer
    if scorer.name != SCORER:
        raise ToolError(
            "the crafting table is there only in tasks of the benchmark plancraft, and this is"
            " none. Go on without it."
        )
    if _EPISODE not in workspace.tool_state:
        workspace.tool_state[_EPISODE] = CraftingEpisode(from_value(CraftingWorld, scorer.options))
    return workspace.tool_state[_EPISODE]


_ACTION = {
    "type": "string",
    "description": "One action, such as: move: from [I2] to [A1] with quantity 3",
}

ACT = Tool(
    name="plancraft_act",
    description=(
        "Do one action at the crafting table (move, smelt or impossible) and see what lies in the"
        " slots afterwards. Every call uses up one of the task's actions."
    ),
    parameters={
        "type": "object",
        "properties": {"action": _ACTION},
        "required": ["action"],
        "additionalProperties": False,
    },
    run=_act,
    keeps_state=True,
)
LOOK = Tool(
    name="plancraft_look",
    description="See what lies in the slots now. This uses up no action.",
    parameters={"type": "object", "properties": {}, "additionalProperties": False},
    run=_observe,
    keeps_state=True,
)
PLANCRAFT_TOOLS = Toolkit(name="plancraft", tools=(ACT, LOOK))
