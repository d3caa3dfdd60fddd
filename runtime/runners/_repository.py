"""The repository of an agent that can edit: what it starts from, and what it hands in."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from ...schema.values.errors import AgentError
from ..messages.messages import fence
from ..prompts import render

if TYPE_CHECKING:
    from ..agents.runner import Assignment
    from .bridge import Bridge

_MARKER = re.compile(r"^\+(<{7,}|>{7,}) (by/.+?)\r?$", re.MULTILINE)
"""It is longer and names the file where that was moved, and ends as lines of the file do."""
MOST = 50
"""Conflicts that an agent is told of one by one."""


def told_of_start(assignment: Assignment, bridge: Bridge) -> str:
    """Return what an agent's copy starts from, and what is to be mended in it.

    Nothing, where that is what it reported itself, or the one patch that it reads.
    """
    workspace = assignment.workspace
    whose = [change.agent for change in workspace.start]
    senders = {report.agent_id for report in assignment.reports if report.patch} | {
        assignment.agent.id
    }
    if len(whose) < 2 and senders.issuperset(whose):
        return ""
    conflicts = [*workspace.conflicts]
    partial = functools.partial(assignment.emit, "work_merged", of=whose, conflicts=conflicts)
    bridge.tell(partial)
    shown = conflicts[:MOST]
    if len(conflicts) > MOST:
        shown.append(f"and {len(conflicts) - MOST} more of this kind.")
    return render("starting_work", whose=whose, conflicts=shown, fence=fence("\n".join(conflicts)))


def handed_patch(assignment: Assignment) -> str:
    """Return the patch that an agent leaves in its copy, once nothing of it runs any more.

    Raises:
        AgentError: It changed nothing, left conflicts that it should have mended, or changed more
            than can be handed in.
    """
    patch = assignment.workspace.diff()
    if not patch:
        raise AgentError("it handed in its work without having changed anything.")
    if assignment.workspace.conflicts and (left := _MARKER.search(patch)):
        marker = f"{left[1]} {left[2]}"
        raise AgentError(f"it left what git could not merge as it was: {marker!r} is still there.")
    return patch
