"""A whole run: the pass of its agents, and the score of what they came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .engine import execute
from .scoring import scored

if TYPE_CHECKING:
    from ..schema.task import Task
    from .engine import Context
    from .outcomes import Run
    from .plan import Plan

__all__ = ["perform"]


async def perform(plan: Plan, task: Task, context: Context, *, path: str = "") -> Run:
    """Run a plan on a task, from the first agent to the score.

    Args:
        plan: A compiled team.
        task: What is asked. Its reference answer reaches the scorer only.
        context: What it takes to run it.
        path: Where the run stands in its journal: empty, or ending with a slash.

    Returns:
        What came of it. A run that fails or meets a limit is a result, not an exception.

    Raises:
        StorageError: What happened can no longer be written down.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    trace = context.trace
    trace.emit("run_started", team=plan.team.name, task=task.id, content_hash=plan.content_hash)
    run = await scored(await execute(plan, task, context, path=path), task, context.jails)
    trace.emit("run_finished", status=run.status, error=run.error, seconds=run.seconds)
    trace.check()
    return run
