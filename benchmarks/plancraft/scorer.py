"""The scorer: plays the actions of an answer, and returns the package's verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...runtime.agents.outcomes import Score
from ...schema.host.scorer_form import ScorerForm, takes
from ...schema.values.codec import from_value
from ...schema.values.values import is_mapping
from .episode import CraftingEpisode, CraftingWorld
from .recipes import RECIPE, fault_of
from .toolkit import ACT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...runtime.agents.outcomes import ToolCall
    from ...runtime.scoring.scorers import Evidence
    from ...schema.values.problems import Path

_LABEL = re.compile(r"actions[*_`\"]*[ \t]*:", re.IGNORECASE)
_ACTION = re.compile(r"\b(?:move|smelt|impossible):")


_ITEM = {"type": "string", "minLength": 1, "maxLength": 100, "x-unit": "characters"}
_STACK = {
    "type": "array",
    "minItems": 2,
    "maxItems": 2,
    "prefixItems": [_ITEM, {"type": "integer", "minimum": 1, "maximum": 10_000}],
}
_OPTIONS: Mapping[str, Any] = {
    "target": {**_ITEM, "description": "The item to be made."},
    "slots": {
        "type": "object",
        "propertyNames": {
            "pattern": "[0-9]|[123][0-9]|4[0-5]",
            "x-rule": "the number of a slot, from 0 to 45",
            "examples": ["10"],
        },
        "additionalProperties": _STACK,
        "description": "What lies where, and how many of it.",
    },
    "recipes": {"type": "array", "items": RECIPE, "description": "The recipes that can apply."},
    "stacks": {
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 64},
        "description": "How many of an item a slot takes where that is less than 64.",
    },
    "steps": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "x-unit": "actions",
        "description": "How many actions an episode has.",
    },
}


def _option_faults(options: Mapping[str, Any], _reference: Any) -> Mapping[Path, str]:
    faults = {number: fault_of(recipe) for number, recipe in enumerate(options["recipes"])}
    return {("scorer", "recipes", number): why for number, why in faults.items() if why}


@takes(
    ScorerForm(
        options=_OPTIONS,
        required=tuple(_OPTIONS),
        reference={
            "type": "object",
            "required": ["impossible"],
            "properties": {
                "impossible": {
                    "type": "boolean",
                    "description": "Whether the item cannot be made.",
                }
            },
        },
        longest=100_000,
        check=_option_faults,
    )
)
async def plancraft(evidence: Evidence) -> Score:
    """Judge the episode that the answering agent played with tools, else the answer's list.

    Measures `steps`, `unreadable` (the number of unreadable ones) and `gave_up` (0 or 1). Actions
    done with tools are stored in the trial's log, the only record of them.
    """
    task = evidence.task
    played = _played(evidence.tool_calls)
    actions = played or listed_actions(evidence.answer)
    episode = CraftingEpisode(from_value(CraftingWorld, task.scorer.options))
    for text in actions:
        episode.act(text)
    success = episode.has_succeeded(impossible=task.answer["impossible"])
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
    """Return the actions in an answer: its lines with one, below its last `ACTIONS:`.

    Without that label, the whole answer is read. Lines without an action are skipped, unlike when
    an agent acts with the tool.
    """
    labels = list(_LABEL.finditer(answer))
    section = answer[labels[-1].end() :] if labels else answer
    return [line for line in section.split("\n") if _ACTION.search(line)]


def _played(calls: Sequence[ToolCall]) -> list[str]:
    """Return the texts that reached the table; calls that ended with an error did not."""
    return [
        call.arguments["action"]
        for call in calls
        if call.tool == ACT.name and call.error is None and is_mapping(call.arguments)
    ]


def _ending(episode: CraftingEpisode) -> str:
    if episode.has_target:
        return "the item was made"
    return "called impossible" if episode.has_given_up else "the item was not made"
