"""Gauging: a model's assessment of a case before any agent works on it (MATTRL §5.2).

A router uses numbers. Countable features are counted; the five features of the paper need
judgement, and one question asks for them. The question does not say what they are used for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ....schema.edits.offer.strict import ANY_TEXT, FRACTION, closed
from ....schema.team.task import Task
from ...core.answers import reason_schema, structured
from ...core.bounds import Bounds
from ...core.judge import TENTHS
from ...core.material import task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.proposal import RejectedProposal
from ...routing import GAUGED

OPERATOR = "gauge"
MOST_SPECIALITIES = 10
COUNTED = "specialities"


async def gauge(model: OperatorModel, path: str, task: Task) -> dict[str, float] | RejectedProposal:
    """Judge the features of a case that cannot be counted.

    Returns:
        Each of `GAUGED`: fractions in [0, 1], and the number of specialities.
    """
    limits = model.limits
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, most=MOST_SPECIALITIES),
        material=task_text(task, limits),
        schema=closed(reason=reason_schema(limits), **_numbers(TENTHS)),
        read=functools.partial(_read, limits),
        inputs={"task": task},
    )
    return await model.ask(path, question)


def _numbers(level: Mapping[str, Any]) -> dict[str, Any]:
    """Return each feature's schema; numbers are choices, or small models write endless digits."""
    count = {"type": "integer", "enum": list(range(1, MOST_SPECIALITIES + 1))}
    return {name: count if name == COUNTED else level for name in GAUGED}


def _read(bounds: Bounds, text: str) -> dict[str, float]:
    """Accept any fractions, and a reason of any length."""
    fields = structured(text, closed(reason=ANY_TEXT, **_numbers(FRACTION)), bounds)
    return {name: float(fields[name]) for name in GAUGED}
