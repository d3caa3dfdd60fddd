"""The engine: runs a plan on a task, as dataflow.

Every agent is one asyncio task that waits for those whose outputs it sees; there are no barriers
between levels and nothing polls. When the run ends, for whatever reason, nothing of it is left.

With a journal, what an agent came to, and each answer that it got on the way, is on disk before
anyone uses it. The same run again then goes on where it ended.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ..schema.errors import JailError, StorageError
from .desk import AgentOutcome, Desk
from .gateway import Usage
from .own_time import OwnTime
from .scorers import Evidence, Score, score
from .trace import Trace
from .workspace import Workspaces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..schema.task import Task
    from .budget import Budget, BudgetReached, Caps
    from .calls import Calls
    from .jail import Jails
    from .plan import Plan, PlannedAgent
    from .tools import Toolbox

__all__ = ["AgentOutcome", "Run", "execute"]

INFRASTRUCTURE = frozenset(
    {"busy", "denied", "down", "jail", "malformed", "slow", "timeout", "unknown"}
)
"""Faults that are not the team's; a prompt that is too long, or that no model takes, is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One execution of a plan on a task.

    Attributes:
        status: `done` with an answer; `failed` without; `stopped` by a limit of the user's.
        answer: The output agent's answer, where it got that far.
        score: How it compares with the reference answer, where the task has one.
        error: Why there is no answer.
        usage: What all model calls consumed.
        seconds: From start to end.
        agents: Each agent's outcome by id, in Kahn order.
        over_budget: Whether it was stopped by a budget, not by the team's own timeout.
        fault: Why there is no score, where the team could not help it: `jail`, where the answer
            could not be scored; `slow`, where it was stopped for what it waited for.
    """

    status: Literal["done", "failed", "stopped"]
    answer: str | None = None
    score: Score | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    agents: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    over_budget: bool = False
    fault: str | None = None

    @property
    def infrastructure_failures(self) -> int:
        """How many of its agents failed for something that is not theirs: a provider, a jail."""
        failed = (one for one in self.agents.values() if one.status == "failed")
        return sum(one.fault in INFRASTRUCTURE for one in failed)

    @property
    def is_too_slow(self) -> bool:
        """Whether nothing but the time that its model took kept it from an answer."""
        failed = {one.fault for one in self.agents.values() if one.status == "failed"}
        return {self.fault, *failed} - {None} == {"slow"}

    @property
    def is_infrastructure_failure(self) -> bool:
        """Whether it failed for something that says nothing about the team."""
        not_the_teams = self.fault in INFRASTRUCTURE or self.infrastructure_failures > 0
        return self.answer is None and not self.over_budget and not_the_teams


async def execute(
    plan: Plan,
    task: Task,
    *,
    calls: Calls,
    jails: Jails,
    toolbox: Toolbox,
    trace: Trace | None = None,
    budget: Budget | None = None,
    agent_caps: Caps | None = None,
    path: str = "",
) -> Run:
    """Run a plan on a task.

    Args:
        plan: A compiled team.
        task: What is asked. Its reference answer reaches the scorer only.
        calls: Makes the model calls. Its owner closes its gateway, journal and cache.
        jails: Where code that agents write may run.
        toolbox: The tools that agents can be granted. Its owner closes it.
        trace: Told everything that happens.
        budget: What the run may cost.
        agent_caps: What each of its agents may cost.
        path: Where the run stands in its journal: empty, or ending with a slash.

    Returns:
        What came of it. A run that fails or meets a limit is a result, not an exception.

    Raises:
        StorageError: What happened can no longer be written down.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    trace = trace or Trace()
    run = Running(
        plan=plan, task=task, calls=calls, jails=jails, toolbox=toolbox, trace=trace,
        budget=budget, agent_caps=agent_caps, path=path,
    )  # fmt: skip
    trace.emit("run_started", team=plan.team.name, task=task.id, content_hash=plan.content_hash)
    result = await run.to_the_end()
    trace.emit("run_finished", status=result.status, error=result.error, seconds=result.seconds)
    trace.check()
    return result


class _FirstFailure(Exception):
    """An agent failed, and the team's policy is that the run fails with it."""


@dataclass(kw_only=True, eq=False)
class Running:
    """A run under way. `limit` is the cap that it met, if any."""

    plan: Plan
    task: Task
    calls: Calls
    jails: Jails
    toolbox: Toolbox
    trace: Trace
    budget: Budget | None
    agent_caps: Caps | None
    path: str
    limit: BudgetReached | None = None

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self.time = OwnTime()
        self.rounds = self.calls.journal.rounds if self.calls.journal else 1
        self.slots = asyncio.Semaphore(self.plan.workers)
        self.parts: dict[str, asyncio.Task[AgentOutcome]] = {}
        self.outcomes: dict[str, AgentOutcome] = {}
        self.desks: dict[str, Desk] = {}
        self.cut_off: list[Desk] = []
        self.has_failed = False

    async def to_the_end(self) -> Run:
        """Run every agent's part, bounded by time, sum up and score the answer."""
        run = await self._ended()
        if run.answer is None:
            return run
        evidence = Evidence(
            task=self.task,
            answer=run.answer,
            tool_calls=run.agents[self.plan.output].tool_calls,
            jails=self.jails,
        )
        try:
            return replace(run, score=await score(evidence))
        except JailError as error:
            why = f"the answer could not be scored: {error}"
            return replace(run, status="failed", answer=None, error=why, fault="jail")

    async def _ended(self) -> Run:
        """Run every agent's part, bounded by time, and sum up."""
        limit, whose = self._time_left()
        with Workspaces(replace(self.task, answer=None)) as self.workspaces:
            try:
                async with asyncio.timeout(limit):
                    await self._dataflow()
            except TimeoutError:
                over = limit != self.plan.team.execution.timeout
                run = self._summary("stopped", f"the run reached {whose}.", over_budget=over)
                waited = not over and run.answer is None and self._has_waited()
                return _slowed(run, whose) if waited else run
        output = self.outcomes[self.plan.output]
        if self.limit is not None and (output.status != "done" or self._is_run_wide(self.limit)):
            return self._summary("stopped", str(self.limit), over_budget=True)
        if output.status == "done":
            return self._summary("done")
        return self._summary("failed", self._why())

    def _time_left(self) -> tuple[float, str]:
        """Give the seconds that the run has, and whose limit that is."""
        limit = self.plan.team.execution.timeout
        left = self.budget.left() if self.budget else None
        if left is None or left > limit:
            return limit, f"execution.timeout, {limit:g} seconds"
        return left, "its budget of seconds"

    def _has_waited(self) -> bool:
        """Tell whether its models used up its time: all waited at its end, or for most of it."""
        all_waited = bool(self.cut_off) and all(desk.waits for desk in self.cut_off)
        return all_waited or self.time.spent < self.plan.team.execution.timeout / 2

    def _is_run_wide(self, limit: BudgetReached) -> bool:
        """Tell whether a cap is not one agent's own."""
        budget = self.budget
        while budget is not None and budget is not limit.budget:
            budget = budget.parent
        return budget is not None

    async def _dataflow(self) -> None:
        broken = None
        try:
            async with asyncio.TaskGroup() as group:
                for agent_id, planned in self.plan.agents.items():
                    self.parts[agent_id] = group.create_task(self._part(planned), name=agent_id)
        except* StorageError as failures:
            broken = failures.exceptions[0]  # raised from here, some Pythons would wrap it again
        except* _FirstFailure:
            pass
        if broken is not None:
            raise broken

    async def _part(self, planned: PlannedAgent) -> AgentOutcome:
        """Wait for those whose outputs the agent sees, run it, and tell how it ended."""
        agent_id = planned.agent.id
        outcome = None
        try:
            before = {seen: await self.parts[seen] for seen in planned.sees}
            outcome = self._unready(before) or await self._attempted(planned, before)
        finally:
            # One that was cancelled at work has spent what it has spent.
            outcome = outcome or self._cancelled(agent_id)
            self.outcomes[agent_id] = outcome
            self._tell_end(agent_id, outcome)
        if outcome.status == "failed" and self.plan.team.execution.on_error == "fail":
            self.has_failed = True
            raise _FirstFailure
        return outcome

    def _cancelled(self, agent_id: str) -> AgentOutcome:
        """Tell how an agent ends that the run's end found waiting or at work."""
        desk = self.desks.get(agent_id)
        if desk is None:
            return AgentOutcome(status="cancelled")
        self.cut_off.append(desk)
        return AgentOutcome(
            status="cancelled",
            usage=desk.usage,
            attempts=desk.attempts,
            mishaps=desk.mishaps.told(),
        )

    def _unready(self, before: Mapping[str, AgentOutcome]) -> AgentOutcome | None:
        """Tell how an agent ends that cannot start, by the team's policy; None where it can."""
        lost = [seen for seen, outcome in before.items() if outcome.status != "done"]
        if not lost:
            return None
        on_error = self.plan.team.execution.on_error
        if on_error == "skip":
            return AgentOutcome(status="skipped", error=f"it depends on {', '.join(lost)}.")
        if self.limit is not None and (on_error == "fail" or len(lost) == len(before)):
            return AgentOutcome(status="cancelled", error="the run met a limit before its turn.")
        if len(lost) == len(before):
            return AgentOutcome(status="failed", error="none of its colleagues reported anything.")
        return None

    async def _attempted(
        self, planned: PlannedAgent, before: Mapping[str, AgentOutcome]
    ) -> AgentOutcome:
        """Run an agent, again where it failed and may try again, within its timeout."""
        async with self.slots:
            if self.has_failed:  # the slot is free because the run is about to end
                raise _FirstFailure
            desk = Desk(run=self, planned=planned, before=before)
            self.desks[planned.agent.id] = desk
            self.trace.emit(
                "agent_started",
                planned.agent.id,
                level=planned.level,
                backend=planned.backend,
                received=[report.agent_id for report in desk.reports],
            )
            return await desk.outcome()

    def _tell_end(self, agent_id: str, outcome: AgentOutcome) -> None:
        result = outcome.result
        self.trace.emit(
            "agent_finished",
            agent_id,
            status=outcome.status,
            seconds=round(outcome.seconds, 6),
            attempts=outcome.attempts,
            usage=outcome.usage.value(),
            content=result.content if result else None,
            steps=list(result.steps) if result else [],
            error=outcome.error,
        )

    def _why(self) -> str:
        """Name the failure behind a missing answer: the first agent in Kahn order that failed."""
        failed = (
            f"agent {agent_id}: {self.outcomes[agent_id].error}"
            for agent_id in self.plan.agents
            if self.outcomes[agent_id].status == "failed"
        )
        return next(failed, "the output agent has no output.")

    def _summary(
        self,
        status: Literal["done", "failed", "stopped"],
        error: str | None = None,
        *,
        over_budget: bool = False,
    ) -> Run:
        outcomes = {
            agent_id: self.outcomes.get(agent_id, AgentOutcome(status="cancelled"))
            for agent_id in self.plan.agents
        }
        answer = None
        if status != "failed" and (result := outcomes[self.plan.output].result):
            answer = result.content if result.answer is None else result.answer
        return Run(
            status=status,
            answer=answer,
            error=error,
            usage=sum((outcome.usage for outcome in outcomes.values()), Usage()),
            seconds=time.monotonic() - self.started,
            agents=outcomes,
            over_budget=over_budget,
        )


def _slowed(run: Run, limit: str) -> Run:
    """Say of a run that its team could not help that it was stopped."""
    error = f"the run reached {limit}, while it waited for its models."
    return replace(run, error=error, fault="slow")
