"""The final patch of a repository: the merged changes of several agents.

If changes are alternatives, an agent chooses between them. Its choice then replaces everything that
it chose from, here and for all later agents.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import AgentError
from ...schema.values.terminal import on_one_line
from ..repository.changes import RepositoryChange, passed_on

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ...schema.team.team import Agent
    from ..agents.outcomes import AgentOutcome
    from ..agents.runner import AgentResult
    from ..repository.workspace import Workspace, Workspaces

MOST_NAMED = 20
"""The most files to name in an event."""


async def handed_in(workspaces: Workspaces, changes: Sequence[RepositoryChange]) -> str | None:
    """Return the merged patch of changes when no agent is left to resolve conflicts.

    Args:
        workspaces: The workspaces of the changed repository.
        changes: The changes; without any, the result is None.
    """
    if len(changes) < 2:
        return changes[0].patch if changes else None
    return await asyncio.to_thread(_merged, workspaces, changes)


def _merged(workspaces: Workspaces, changes: Sequence[RepositoryChange]) -> str:
    trees = workspaces.trees()
    merged = trees.merged(changes)
    if not merged.conflicts:
        return trees.patch(merged.tree)
    whose = " and ".join(change.agent for change in changes)
    raise AgentError(
        f"the work of {whose} cannot be merged: {'; '.join(merged.conflicts)}."
        " Have an agent that can edit read all of it, or one that chooses; each agent's patch is"
        " in the result."
    )


def chosen(agent: Agent, result: AgentResult, before: Mapping[str, AgentOutcome]) -> str | None:
    """Return the colleague that an agent chose among several with different changes.

    An agent chooses in one of three ways: its `output_schema` has a text `chosen` that names the
    colleague; it is a function that picks; or its whole answer is one of the patches.

    Args:
        before: The outcomes of the agents whose reports it read.

    Returns:
        None if it changed the repository itself, had nothing to choose from, or did not choose.
    """
    offered = {
        outcome: answer.result
        for outcome, answer in before.items()
        if answer.result and answer.changes
    }
    if result.patch or len({before[name].changes for name in offered}) < 2:
        return None
    from ..scoring.functions import answer_of
    from ..scoring.voting import picks
    from ..values.structured import object_in

    if agent.chooses:
        return _named(object_in(result.content).get("chosen"), offered)
    text = answer_of(result.content)
    if agent.function and picks(agent.function):
        return next((name for name in offered if answer_of(offered[name].content) == text), None)
    return next((name for name in offered if (offered[name].patch or "").strip() == text), None)


def _named(name: Any, offered: Collection[str]) -> str:
    if name in offered:
        return name
    raise AgentError(f"it chose {name!r}; there is work of {', '.join(offered)} to choose from.")


async def passing_on(
    agent: Agent,
    outcome: AgentOutcome,
    before: Mapping[str, AgentOutcome],
    start: tuple[RepositoryChange, ...],
    workspaces: Workspaces,
) -> AgentOutcome:
    """Return an agent's outcome with the repository changes that it passes on.

    An agent that chose passes on one change, in place of all that it chose from. It fails if its
    choice combines several agents' work that cannot be merged.
    """
    result = outcome.result
    changes = passed_on(agent.id, result.patch if result else None, start)
    with_changes = replace(outcome, changes=changes) if changes or outcome.changes else outcome
    if result is None or not start:
        return with_changes
    try:
        if (picked := chosen(agent, result, before)) is None:
            return with_changes
        patch = await handed_in(workspaces, before[picked].changes)
    except AgentError as error:
        return replace(with_changes, status="failed", result=None, error=str(error), fault="agent")
    return replace(
        with_changes, changes=(RepositoryChange(agent=agent.id, patch=patch or "", onto=start),)
    )


async def unused(workspace: Workspace, result: AgentResult) -> Mapping[str, Any] | None:
    """Describe an agent's changes to a repository copy that are not part of its answer.

    None if it changed nothing, or the changes are its result.
    """
    if result.patch is not None or not workspace.is_used:
        return None
    try:
        changed = await asyncio.to_thread(workspace.changed)
    except AgentError as error:
        return {"files": [], "count": 0, "error": str(error)}
    named = [on_one_line(name) for name in changed[:MOST_NAMED]]
    return {"files": named, "count": len(changed)} if changed else None
