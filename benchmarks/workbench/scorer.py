"""The scorer: extracts the calls of a team's answer, and returns the original verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.agents.outcomes import Score
from ...schema.host.scorer_form import ScorerForm, takes
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.values import is_mapping
from .answers import calls_in, written
from .domains import OPERATIONS
from .tables import load_tables
from .verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...runtime.agents.outcomes import ToolCall
    from ...runtime.scoring.scorers import Evidence
    from ...schema.values.problems import Path as FieldPath


def _without_files(options: Mapping[str, Any], _reference: Any) -> Mapping[FieldPath, str]:
    try:
        load_tables(Path(options["folder"]))
    except InputError as error:
        return {("scorer", "folder"): str(error)}
    return {}


@takes(
    ScorerForm(
        options={
            "folder": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "x-unit": "characters",
                "description": "The benchmark's data.",
            },
            "toolkits": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The domains whose tools there are.",
            },
        },
        required=("folder",),
        reference={"type": "array", "items": {"type": "string"}},
        longest=100_000,
        check=_without_files,
    )
)
async def workbench(evidence: Evidence) -> Score:
    """Judge the calls below the answer's label, or without one, the agent's tool calls.

    Measures `side_effects` and `exact_match`, each 0 or 1. Tool calls are stored as a JSON list in
    the trial's log, the only record of them.

    Raises:
        InputError: The benchmark's files are not there any more.
    """
    task = evidence.task
    folder = Path(task.scorer.options["folder"])
    listed = calls_in(evidence.answer)
    calls = _successful(evidence.tool_calls) if listed is None else listed
    result = verdict(calls, task.answer, "", load_tables(folder))
    return Score(
        value=float(result.correct),
        reason=_reason(calls, listed is not None, result.correct),
        measures={
            "side_effects": float(result.side_effects),
            "exact_match": float(result.exact_match),
        },
        log="" if listed is not None or not calls else dumps(calls, indent=1) + "\n",
    )


def _successful(calls: Sequence[ToolCall]) -> list[str]:
    """Return the successful calls as text; a call that ended with an error has changed nothing."""
    return [
        written(call.tool, call.arguments)
        for call in calls
        if call.tool in OPERATIONS and call.error is None and is_mapping(call.arguments)
    ]


def _reason(calls: Sequence[Any], are_listed: bool, is_right: bool) -> str:
    where = "in the answer" if are_listed else "of tools"
    return f"{len(calls)} calls {where} lead to {'the right' if is_right else 'another'} state"
