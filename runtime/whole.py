"""A whole run: the rounds of its agents, and the score of what they came to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .allowance import Allowance
from .declared import declared, repeating
from .engine import execute
from .rounds import rounds, summed
from .scoring import scored

if TYPE_CHECKING:
    from ..schema.task import Task
    from .engine import Context
    from .outcomes import Run
    from .plan import Plan
    from .rounds import Next

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
    work = execute if plan.team.execution.rounds is None else _repeated
    run = await scored(await work(plan, task, context, path=path), task, context.jails)
    trace.emit("run_finished", status=run.status, error=run.error, seconds=run.seconds)
    trace.check()
    return run


async def _repeated(plan: Plan, task: Task, context: Context, *, path: str) -> Run:
    """Make the rounds that a team declares; each has a place of its own in the journal."""
    allowance, between = Allowance(plan.team.execution.timeout), declared(plan)

    async def one_pass(coming: Next, number: int) -> Run:
        trace = context.trace.within(round="closing" if coming.is_closing else number)
        trace.emit("round_started", given=[*coming.given])
        run = await execute(
            coming.plan,
            task,
            replace(context, trace=trace),
            path=f"{path}closing/" if coming.is_closing else f"{path}round {number}/",
            carry=coming.carry,
            given=coming.given,
            allowance=allowance,
        )
        trace.emit("round_finished", status=run.status, error=run.error, seconds=run.seconds)
        trace.check()
        return run

    done = await rounds(repeating(plan), one_pass, between, most=between.most)
    return summed(done, plan)
