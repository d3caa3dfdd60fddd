"""Scores an answer as the engine does, for tests of scorers."""

import asyncio

from coterie.runtime.agents.outcomes import Score, ToolCall
from coterie.runtime.jail import Jails
from coterie.runtime.scoring.scorers import Evidence, score
from coterie.schema.team.task import Task


def scored(task: Task, answer: str, *tool_calls: ToolCall) -> Score | None:
    """Score an answer, and what the agent that gave it had its tools do."""
    evidence = Evidence(task=task, answer=answer, tool_calls=tool_calls, jails=Jails())
    return asyncio.run(score(evidence))


def found(task: Task, answer: str, *tool_calls: ToolCall) -> Score:
    """Score an answer to a task that has a scorer."""
    result = scored(task, answer, *tool_calls)
    assert result is not None
    return result
