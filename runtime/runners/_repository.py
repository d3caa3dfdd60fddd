"""The repository of an agent that can edit: its initial state, and the resulting patch."""

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
"""A conflict marker; it is longer and names the file if that was moved, and has the file's line
ends."""
MOST = 50
"""The most conflicts to list individually."""


def told_of_start(assignment: Assignment, bridge: Bridge) -> str:
    """Describe the initial state of an agent's copy, and the conflicts to resolve in it.

    Empty if it starts from its own earlier report, or from the one patch that it reads.
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
    """Return the patch that an agent leaves in its copy, once none of its processes run.

    Raises:
        AgentError: It changed nothing, left conflicts unresolved, or changed too much to hand in.
    """
    patch = assignment.workspace.diff()
    if not patch:
        raise AgentError("it handed in its work without having changed anything.")
    if assignment.workspace.conflicts and (left := _MARKER.search(patch)):
        marker = f"{left[1]} {left[2]}"
        raise AgentError(f"it left what git could not merge as it was: {marker!r} is still there.")
    return patch
