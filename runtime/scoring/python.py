"""The host's Python functions as scorers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ...schema.host.foreign_code import foreign_code
from ...schema.values.problems import quoted
from ..agents.outcomes import Score
from ..tools.python import call_python
from .scorers import ScorerError, is_share

if TYPE_CHECKING:
    from ...schema.host.python_scorer import PythonScorer
    from .scorers import Evidence

SECONDS = 600.0
"""How long a scorer may take: as long as a run, unless its team sets a limit."""


async def called(scorer: PythonScorer, evidence: Evidence) -> Score:
    """Score an answer with a function.

    Raises:
        ScorerError: It raised an exception, took too long, or returned no score.
    """
    task = evidence.task
    values = {
        "answer": evidence.answer,
        "reference": task.answer,
        "options": task.scorer.options,
        "task": task,
        "evidence": evidence,
    }
    arguments = {name: values[name] for name in scorer.arguments}
    what = f"the scorer {scorer.name}"

    try:
        async with asyncio.timeout(SECONDS):
            with foreign_code(what, ScorerError):
                returned = await call_python(scorer.name, scorer.function, arguments)
    except TimeoutError:
        raise ScorerError(f"{what} took longer than {SECONDS:g} seconds.") from None
    if isinstance(returned, Score):
        return returned
    if is_share(returned):
        return Score(value=float(returned), reason=f"{scorer.name} returned {returned!r}")
    wanted = "a number from 0 to 1, True, False or a Score"
    raise ScorerError(f"{what} returned {quoted(returned)}. Return {wanted}.")
