"""Scores the result of a run: once, by the caller that made the run, never between its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.values.errors import JailError
from ...schema.values.values import replaced
from .scorers import Evidence, ScorerError, score

if TYPE_CHECKING:
    from ...schema.team.task import Task
    from ..agents.outcomes import Run
    from ..jail import Jails


async def scored(run: Run, task: Task, jails: Jails) -> Run:
    """Compare a run's answer with the task's reference answer.

    Args:
        jails: Where a scorer may run code.

    Returns:
        The run with its score, if it has an answer and the task a reference. A failed run without
        its answer, if the scorer or its jail failed.
    """
    if run.answer is None:
        return run
    calls = run.agents[run.answered_by].tool_calls if run.answered_by else ()
    evidence = Evidence(
        task=task, answer=run.answer, tool_calls=calls, answers=_answers(run), jails=jails
    )
    try:
        return replaced(run, score=await score(evidence))
    except (JailError, ScorerError) as error:
        why = f"the answer could not be scored: {error}"
        fault = "jail" if isinstance(error, JailError) else "scorer"
        return replaced(run, status="failed", answer=None, error=why, fault=fault)


def _answers(run: Run) -> dict[str, str]:
    results = {name: outcome.result for name, outcome in run.agents.items()}
    return {
        name: result.content if result.answer is None else result.answer
        for name, result in results.items()
        if result is not None
    }
