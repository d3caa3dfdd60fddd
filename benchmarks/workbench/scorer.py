"""The scorer: which calls a team's answer stands for, and the original verdict on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.scorers import Score
from ...schema.errors import InputError
from ...schema.values import is_list, is_mapping
from .answers import calls_in, written
from .domains import OPERATIONS
from .tables import load_tables
from .verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runtime.scorers import Evidence
    from ...runtime.tools import ToolCall

__all__ = ["workbench"]


async def workbench(evidence: Evidence) -> Score:
    """Judge by the calls below the answer's label, else by those that its agent had done.

    Measures `side_effects` and `exact_match`, each 0 or 1. Calls that were done with tools are kept
    as a JSON list in the trial's log: nothing else says which they were.

    Raises:
        InputError: The task is not one of this benchmark's, or its files are not there any more.
    """
    task = evidence.task
    folder = task.scorer.options.get("folder")
    if not isinstance(folder, str) or not is_list(task.answer):
        raise InputError(
            f"scorer workbench: task {task.id!r} has no folder of data in the scorer's options, or"
            " no list of calls as answer. It scores the tasks of the benchmark workbench only."
        )
    listed = calls_in(evidence.answer)
    calls = _done(evidence.tool_calls) if listed is None else listed
    found = verdict(calls, [str(one) for one in task.answer], "", load_tables(Path(folder)))
    return Score(
        value=float(found.correct),
        reason=_reason(calls, listed is not None, found.correct),
        measures={
            "side_effects": float(found.side_effects),
            "exact_match": float(found.exact_match),
        },
        log="" if listed is not None or not calls else json.dumps(calls, indent=1) + "\n",
    )


def _done(calls: Sequence[ToolCall]) -> list[str]:
    """Write down the calls that worked; one that ended with an error has changed nothing."""
    return [
        written(call.tool, call.arguments)
        for call in calls
        if call.tool in OPERATIONS and call.error is None and is_mapping(call.arguments)
    ]


def _reason(calls: Sequence[Any], are_listed: bool, is_right: bool) -> str:
    where = "in the answer" if are_listed else "of tools"
    return f"{len(calls)} calls {where} lead to {'the right' if is_right else 'another'} state"
