"""A whole run: the passes that a team declares, and the score of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.values.errors import InputError
from ...schema.values.values import replaced
from ..engine.allowance import Allowance
from ..engine.engine import execute
from ..plan.plan import part_of
from ..rounds.rounds import NOBODY_SILENT, Ablation, Round, declares, rounds, summed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.team.task import Task
    from ..agents.outcomes import Run
    from ..engine.engine import Context
    from ..plan.plan import Plan
    from ..record.trace import Trace
    from ..rounds.declared import Declared
    from ..rounds.rounds import Next

__all__ = ["NOBODY_SILENT", "Ablation", "as_run", "passes", "perform"]


async def perform(
    plan: Plan,
    task: Task,
    context: Context,
    *,
    path: str = "",
    silent: Ablation = NOBODY_SILENT,
) -> Run:
    """Run a plan on a task, from the first agent to the score.

    Args:
        task: The task. Its reference answer reaches the scorer only.
        path: The run's path in its journal: empty, or ending with a slash.
        silent: Agents that take no part.

    Returns:
        The result. A run that fails or meets a limit is a result, not an exception.

    Raises:
        InputError: A silent agent is not in the team.
        StorageError: The record can no longer be written.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    trace = context.trace
    trace.emit("run_started", team=plan.team.name, task=task.id, content_hash=plan.content_hash)
    past = await passes(plan, task, context, path=path, silent=silent)
    run = as_run(past, plan)
    if task.is_scored:
        from ..scoring.scorers import scored

        run = await scored(run, task, context.jails)
    score = {"score": run.score.value} if run.score else {}
    trace.emit("run_finished", status=run.status, error=run.error, seconds=run.seconds, **score)
    trace.check()
    return run


async def passes(
    plan: Plan,
    task: Task,
    context: Context,
    *,
    path: str = "",
    silent: Ablation = NOBODY_SILENT,
) -> tuple[Round, ...]:
    """Make all passes that a team itself declares, without a score.

    Args:
        task: The task. Its reference answer reaches no agent.
        path: The run's path in its journal: empty, or ending with a slash. Each pass of a team that
            declares rounds has its own path below.
        silent: Agents that take no part.

    Returns:
        The passes, in order. There is one if the team declares none; also if its roster is open,
        and then it contains all turns of all agents. `as_run` sums them up.

    Raises:
        InputError: A silent agent is not in the team.
        StorageError: The record can no longer be written.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    if unknown := sorted(silent.names - {*plan.agents}):
        raise InputError(f"{plan.team.name} has no agent {unknown[0]!r}, so it cannot be silent.")
    if plan.team.execution.roster is not None:
        from ..roster.open_roster import open_roster

        run = await open_roster(plan, task, context, path=path, silent=silent.during(1))
        return (Round(number=1, plan=plan, run=run),)
    if not declares(plan.team):
        part = part_of(plan, {*plan.agents} - silent.during(1))
        return (Round(number=1, plan=part, run=await execute(part, task, context, path=path)),)
    return await _declared_passes(plan, task, context, path, silent)


async def _declared_passes(
    plan: Plan, task: Task, context: Context, path: str, silent: Ablation
) -> tuple[Round, ...]:
    from ..rounds.declared import declared

    allowance, between = Allowance(plan.team.execution.timeout), declared(plan, silent)

    async def one_pass(coming: Next, number: int) -> Run:
        trace = context.trace.within(round=coming.label(number))
        trace.emit("round_started", given=[*coming.preset])
        run = await execute(
            coming.plan,
            task,
            replaced(context, trace=trace),
            path=f"{path}{coming.place(number)}/",
            state=coming.state,
            preset=coming.preset,
            allowance=allowance,
        )
        trace.emit("round_finished", status=run.status, error=run.error, seconds=run.seconds)
        trace.check()
        return run

    async def next_pass(past: Sequence[Round]) -> Next | None:
        coming = await between(past)
        if coming is not None and past[-1].kind == "opening":
            _tell(between, past, context.trace)
        return coming

    return await rounds(between.first, one_pass, next_pass, most=between.most)


def _tell(between: Declared, past: Sequence[Round], trace: Trace) -> None:
    """Report the recruited agents, if the team recruits."""
    from ..rounds.recruiting import seat_descriptions

    if between.recruit is not None and (chosen := between.chosen(past)) is not None:
        agents, reason = chosen
        trace.emit(
            "recruited",
            between.recruit.by,
            agents=seat_descriptions(between.plan.team, agents),
            reason=reason,
        )


def _recruited(past: Sequence[Round], plan: Plan) -> Mapping[str, str]:
    from ..rounds.declared import declared
    from ..rounds.recruiting import seat_descriptions

    chosen = declared(plan).chosen(past)
    return seat_descriptions(plan.team, chosen[0]) if chosen else {}


def as_run(past: tuple[Round, ...], plan: Plan) -> Run:
    """Sum up a team's passes as one run without a score.

    Returns:
        The run. Without an answer it has failed, even if no agent failed: then the agent whose
        output is the answer took no part.
    """
    run = summed(past, plan)
    if plan.team.execution.rounds is None and past[-1].kind == "round":
        run = replaced(run, error=past[-1].run.error)
    if plan.team.execution.recruit is not None and run.rounds:
        run = replaced(run, recruited=_recruited(past, plan))
    if run.status == "done" and run.answer is None:
        error = f"{plan.output}, whose output is the answer, took no part."
        return replaced(run, status="failed", error=error)
    return run
