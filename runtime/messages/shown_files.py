"""Who reads the texts among a task's files: who can open them does so; all others are shown them.

An agent that writes code finds them in its workspace, and one with the tool `read_file` reads them
there. Whoever else asks a model reads them in its prompt, as material between fences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.task import Task
    from ..plan.plan import PlannedAgent

LONGEST_FILES = 100_000
"""Characters of all files that a prompt shows: the shortest first, and none in part."""
READER = "read_file"


def shown_files(planned: PlannedAgent, task: Task) -> Mapping[str, str]:
    """Return the texts that an agent is shown of a task's files, by name."""
    if not task.files or _opens_files(planned):
        return {}
    shown: set[str] = set()
    room = LONGEST_FILES
    files = _meant_for(planned, task)
    for name, text in sorted(files.items(), key=lambda pair: (len(pair[1]), pair[0])):
        if len(text) <= room:
            shown.add(name)
            room -= len(text)
    return {name: files[name] for name in sorted(shown)}


def unread_files(planned: PlannedAgent, task: Task) -> list[str]:
    """Name the files that an agent can neither open nor is shown, since they are too long."""
    if not task.files or _opens_files(planned):
        return []
    return sorted({*_meant_for(planned, task)} - {*shown_files(planned, task)})


def _meant_for(planned: PlannedAgent, task: Task) -> Mapping[str, str]:
    """Return the files that an agent is to be shown: see `files` of an agent."""
    return {name: text for name, text in task.files.items() if planned.agent.is_shown(name)}


def _opens_files(planned: PlannedAgent) -> bool:
    return planned.runner.needs_jail(planned.agent) or READER in planned.agent.tools
