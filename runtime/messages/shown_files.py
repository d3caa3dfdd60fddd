"""Which agents are shown the text files of a task: those that cannot open them.

An agent that writes code finds them in its workspace, and one with the tool `read_file` reads them
there. Every other agent with a model reads them in its prompt, as material between fences.
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
    """Return the text files of a task that an agent is shown, by name."""
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
    """Return the files that an agent can neither open nor is shown, because they are too long."""
    if not task.files or _opens_files(planned):
        return []
    return sorted({*_meant_for(planned, task)} - {*shown_files(planned, task)})


def _meant_for(planned: PlannedAgent, task: Task) -> Mapping[str, str]:
    """Return the files that an agent is to be shown: see `files` of an agent."""
    return {name: text for name, text in task.files.items() if planned.agent.is_shown(name)}


def _opens_files(planned: PlannedAgent) -> bool:
    return planned.runner.needs_jail(planned.agent) or READER in planned.agent.tools
