"""Conversations: tasks that carry earlier questions and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

from ...schema.team.task import Task
from ...schema.values.codec import stored, to_value
from ...schema.values.errors import InputError
from ..messages.messages import fence
from ..prompts import render
from .record import as_json, read_as, read_result

CONVERSATION = "conversation.json"
"""The file of a run's folder with the conversation that the run continues."""
MOST_CHARACTERS = 200_000
"""The most characters of a conversation to carry: its latest turns."""


@stored()
class Turn:
    """A question of a conversation, and its answer."""

    asked: str
    answered: str


@stored()
class Conversation:
    """The conversation that a run continues.

    Attributes:
        continues: The name of the previous run's folder.
        turns: The earlier questions and answers, the oldest first.
    """

    continues: str
    turns: Sequence[Turn]
    asked: str


def continued(task: Task, turns: Sequence[Turn]) -> Task:
    """Return a task with the earlier turns, which its agents read with the context.

    Args:
        turns: The earlier questions and answers, the oldest first.
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
    """Return the turns up to the end of a run; its answer is the latest.

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

    It carries the run's files and repository, and all earlier questions and answers.
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
