"""The files of a task that agents receive.

All files of a task are also in the workspaces: an agent that writes code opens them there, and one
with the tool `read_file` reads texts. Every other agent with a model is shown the images and PDFs
that it accepts, and reads text files in its prompt, as material between fences. If no agent
receives an image or a PDF, the task is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.values.attachments import named
from ...schema.values.errors import AgentError, InputError
from ..gateway.chat.inputs import formats_of, takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...schema.team.task import Task
    from ...schema.values.attachments import Attachment
    from ..plan.plan import Plan, PlannedAgent

LONGEST_FILES = 100_000
"""Characters of all files that a prompt shows: the shortest first, and none in part."""
READER = "read_file"


def seen_by(planned: PlannedAgent, task: Task) -> Mapping[str, Attachment]:
    """Return the images and PDFs of a task that an agent is shown, by name."""
    if not task.attachments or planned.model is None:
        return {}
    model = planned.model
    return {
        name: attachment
        for name, attachment in _meant_for(planned, task).items()
        if takes(model, attachment)
    }


def _meant_for(planned: PlannedAgent, task: Task) -> Mapping[str, Attachment]:
    """Return what an agent is to be shown, if its model accepts it: see `files` of an agent."""
    is_shown = planned.agent.is_shown
    return {name: file for name, file in task.attachments.items() if is_shown(name)}


def unseen(plan: Plan, task: Task) -> Iterator[str]:
    """Return what each agent with a model neither is shown of the task nor can open."""
    for agent_id, planned in plan.agents.items():
        visible = seen_by(planned, task)
        left = {n: file for n, file in _meant_for(planned, task).items() if n not in visible}
        if left and planned.calls_at_most:
            yield f"{agent_id} ({_model(planned)}) is not shown {named(left)}"
        if planned.calls_at_most and (unread := unread_files(planned, task)):
            yield f"{agent_id} cannot read {', '.join(unread)}: too long to be shown"


def refuse_unread(plans: Sequence[Plan], task: Task, place: str = "") -> None:
    """Check that a task's repository can be read, and that an agent reads each image and PDF.

    Args:
        plans: The teams: one, or several of which one is chosen for the task.

    Raises:
        InputError: The repository cannot be read, or no team reads all images and PDFs.
    """
    if task.repo is not None:
        _refuse_repository(task.repo, f"task {task.id!r}{f' ({place})' if place else ''}")
    unread = [_unread(plan, task) for plan in plans]
    if not unread or not all(unread):
        return
    kinds = ", ".join(sorted({attachment.kind for attachment in unread[0].values()}))
    teams = ", ".join(plan.team.name for plan in plans)
    agents = [planned for plan in plans for planned in plan.agents.values()]
    models = sorted({_taking(planned) for planned in agents if planned.calls_at_most})
    where = f" ({place})" if place else ""
    problem = f"task {task.id!r}{where}: no agent in {teams} can read {named(unread[0])}."
    if not any(planned.agent.is_shown(name) for planned in agents for name in unread[0]):
        raise InputError(f"{problem} `files` of each agent leaves it out.")
    raise InputError(
        f"{problem} As far as is known, none of its models takes it: {'; '.join(models)}. Where one"
        f" does, write `inputs: [{kinds}]` for it in models.yaml; else choose another model, or"
        " have an agent that writes code."
    )


def _refuse_repository(source: Path, where: str) -> None:
    from ..repository.repository import Repository

    try:
        with Repository.open(source):
            pass
    except AgentError as error:
        raise InputError(f"{where}: {error}") from None


def _unread(plan: Plan, task: Task) -> Mapping[str, Attachment]:
    """Return what no agent is shown of a task, if none writes code that could open it."""
    agents = plan.agents.values()
    if task.repo is None and any(agent.runner.needs_jail(agent.agent) for agent in agents):
        return {}
    visible = {name for planned in agents for name in seen_by(planned, task)}
    return {
        name: attachment for name, attachment in task.attachments.items() if name not in visible
    }


def _taking(planned: PlannedAgent) -> str:
    formats = "" if planned.model is None else f", which takes {formats_of(planned.model)}"
    return f"{_model(planned)}{formats}"


def _model(planned: PlannedAgent) -> str:
    alias = planned.agent.model_id
    return alias if planned.model is None else f"{alias} = {planned.model.model}"


def shown_files(planned: PlannedAgent, task: Task) -> Mapping[str, str]:
    """Return the text files of a task that an agent is shown, by name."""
    if not task.files or _opens_files(planned):
        return {}
    shown: set[str] = set()
    room = LONGEST_FILES
    files = _texts_for(planned, task)
    for name, text in sorted(files.items(), key=lambda pair: (len(pair[1]), pair[0])):
        if len(text) <= room:
            shown.add(name)
            room -= len(text)
    return {name: files[name] for name in sorted(shown)}


def unread_files(planned: PlannedAgent, task: Task) -> list[str]:
    """Return the files that an agent can neither open nor is shown, because they are too long."""
    if not task.files or _opens_files(planned):
        return []
    return sorted({*_texts_for(planned, task)} - {*shown_files(planned, task)})


def _texts_for(planned: PlannedAgent, task: Task) -> Mapping[str, str]:
    """Return the files that an agent is to be shown: see `files` of an agent."""
    return {name: text for name, text in task.files.items() if planned.agent.is_shown(name)}


def _opens_files(planned: PlannedAgent) -> bool:
    return planned.runner.needs_jail(planned.agent) or READER in planned.agent.tools
