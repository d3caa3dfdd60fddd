"""Conversations: tasks that carry what was asked and answered before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

from ...schema.team.task import Task
from ...schema.values.codec import kept, to_value
from ...schema.values.errors import InputError
from ..messages.messages import fence
from ..prompts import render
from .record import as_json, read_as, read_result

CONVERSATION = "conversation.json"
"""The file of a run's folder that says what the run continues."""
MOST_CHARACTERS = 200_000
"""What is carried of a conversation: its latest turns."""


@kept()
class Turn:
    """A question of a conversation, and its answer."""

    asked: str
    answered: str


@kept()
class Conversation:
    """What a run continues.

    Attributes:
        continues: The name of the folder of the run before.
        turns: What was asked and answered until then, the oldest first.
        asked: What this run is asked, without that.
    """

    continues: str
    turns: Sequence[Turn]
    asked: str


def continued(task: Task, turns: Sequence[Turn]) -> Task:
    """Return a task that carries what was said before: its agents read that with the context.

    Args:
        turns: What was asked and answered before, the oldest first.
    """
    if not turns:
        return task
    sizes = accumulate(len(turn.asked) + len(turn.answered) for turn in reversed(turns))
    fitting = max(1, sum(size <= MOST_CHARACTERS for size in sizes))
    shown = [
        {"asked": turn.asked, "answered": turn.answered, "fence": fence(turn.asked + turn.answered)}
        for turn in turns[-fitting:]
    ]
    text = render("conversation", turns=shown, left_out=len(turns) - len(shown))
    return replace(task, context=f"{text}\n\n{task.context}".strip())


def turns_of(folder: Path, task: Task) -> tuple[Turn, ...]:
    """Return what was said until the end of a run, whose answer is the latest.

    Raises:
        InputError: The run has no answer, or its folder is damaged.
    """
    result = read_result(folder)
    if result is None or result["status"] != "done":
        raise InputError(
            f"{folder}: this run has no answer to continue. Finish it first: mas-run --resume"
            f" {folder}."
        )
    path = folder / CONVERSATION
    if not path.exists():
        return (Turn(asked=task.text, answered=result["answer"]),)
    earlier = read_as(Conversation, path)
    return (*earlier.turns, Turn(asked=earlier.asked, answered=result["answer"]))


def continued_run(folder: Path, earlier: Task, task: Task) -> tuple[Task, dict[str, str]]:
    """Return a task that continues a run, and the files that its record needs, by name.

    Files and repository of the run go along, and all that was asked and answered until then.
    """
    turns = turns_of(folder, earlier)
    conversation = Conversation(continues=folder.resolve().name, turns=turns, asked=task.text)
    repo = {} if task.repo else {n: getattr(earlier, n) for n in ("repo", "commit", "history")}
    carried = replace(
        task,
        niche=earlier.niche,
        fields={**earlier.fields, **task.fields},
        files=MappingProxyType({**earlier.files, **task.files}),
        attachments=MappingProxyType({**earlier.attachments, **task.attachments}),
        **repo,
    )
    return continued(carried, turns), {CONVERSATION: as_json(to_value(conversation))}
