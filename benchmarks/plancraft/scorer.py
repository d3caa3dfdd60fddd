"""The scorer: plays the actions that an answer stands for, and gives the package's verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...runtime.scorers import Score
from ...schema.errors import InputError
from ...schema.values import is_mapping
from .episode import Episode, World
from .toolkit import ACT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runtime.scorers import Evidence
    from ...runtime.tools import ToolCall

__all__ = ["listed_actions", "plancraft"]

_LABEL = re.compile(r"actions[*_`\"]*[ \t]*:", re.IGNORECASE)
_ACTION = re.compile(r"\b(?:move|smelt|impossible):")


async def plancraft(evidence: Evidence) -> Score:
    """Judge the episode that the answering agent played with tools, else what its answer lists.

    Measures `steps`, `unreadable` (how many of them could not be read) and `gave_up` (0 or 1).
    Actions that were done with tools are kept in the trial's log: nothing else says which.

    Raises:
        InputError: The task is not one of this benchmark's.
    """
    task = evidence.task
    if not is_mapping(task.answer) or "impossible" not in task.answer:
        raise InputError(
            f"scorer plancraft: the answer of task {task.id!r} does not say whether it is"
            " impossible. It scores the tasks of the benchmark plancraft only."
        )
    played = _played(evidence.tool_calls)
    actions = played or listed_actions(evidence.answer)
    episode = Episode(World.of(task.scorer.options))
    for text in actions:
        episode.act(text)
    success = episode.has_succeeded(impossible=bool(task.answer["impossible"]))
    return Score(
        value=float(success),
        reason=f"{_ending(episode)} after {episode.steps} actions",
        measures={
            "steps": float(episode.steps),
            "unreadable": float(episode.unreadable),
            "gave_up": float(episode.has_given_up),
        },
        log="".join(f"{text}\n" for text in played),
    )


def listed_actions(answer: str) -> list[str]:
    """Read the actions that an answer lists: its lines that have one, below its last `ACTIONS:`.

    Without that label all of the answer is looked at. Lines without an action are passed over, as
    they are not when an agent acts with the tool.
    """
    labels = list(_LABEL.finditer(answer))
    section = answer[labels[-1].end() :] if labels else answer
    return [line for line in section.split("\n") if _ACTION.search(line)]


def _played(calls: Sequence[ToolCall]) -> list[str]:
    """Give the texts that came to the table; a call that ended with an error did not."""
    return [
        call.arguments["action"]
        for call in calls
        if call.tool == ACT.name and call.error is None and is_mapping(call.arguments)
    ]


def _ending(episode: Episode) -> str:
    if episode.has_target:
        return "the item was made"
    return "called impossible" if episode.has_given_up else "the item was not made"
