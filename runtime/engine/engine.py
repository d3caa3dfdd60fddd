"""The engine: runs a plan on a task, as dataflow.

Every agent is one asyncio task that waits for the agents whose outputs it sees; there are no
barriers between levels and no polling. When the run ends for any reason, nothing of it is left
running.

With a journal, each answer and each agent's result is written before anyone uses it, and is on disk
before any irreversible action. Repeating the same run then continues where it ended.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ...schema.values.errors import AgentError, CoterieError
from ...schema.values.values import replaced
from ..agents.outcomes import AgentOutcome, Run, without_cost
from ..agents.round_state import NOTHING
from ..agents.runner import AgentReport
from ..gateway.chat.dialogue import shortened
from ..record.trace import Trace
from ..repository.changes import newest
from ..repository.workspace import Workspaces
from ..values.bounds import LONGEST_EVENT
from ..values.budget import Budget
from ..values.usage import NOTHING as NOTHING_SPENT
from ..values.usage import total
from .agent_execution import AgentExecution
from .allowance import Allowance
from .conditions import inputs_of, unneeded, worked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.task import Task
    from ..agents.items import Item
    from ..agents.round_state import RoundState
    from ..agents.runner import AgentResult
    from ..calls.calls import Calls
    from ..jail import Jails
    from ..messages.recall import Recaller
    from ..plan.plan import Plan, PlannedAgent
    from ..repository.changes import RepositoryChange
    from ..tools import Toolbox
    from ..values.budget import BudgetReached, Caps
    from .artifacts import Keep

BUDGET_OF_SECONDS = "its budget of seconds"
NOBODY: Mapping[str, AgentOutcome] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """The environment for running any plan.

    Attributes:
        calls: Makes the model calls. Its owner closes its gateway, journal and cache.
        jails: Where agents' code may run.
        toolbox: The tools that agents can be granted. Its owner closes it.
        dialogue: The most characters to keep of each agent's conversation; 0 for none.
        recaller: Recalls memory entries for agents; None if no agent recalls.
        keep: Keeps the files that agents write; None to discard them.
    """

    calls: Calls
    jails: Jails
    toolbox: Toolbox
    trace: Trace = field(default_factory=Trace)
    budget: Budget | None = None
    agent_caps: Caps | None = None
    dialogue: int = 0
    recaller: Recaller | None = None
    keep: Keep | None = None


async def execute(
    plan: Plan,
    task: Task,
    context: Context,
    *,
    path: str = "",
    state: RoundState = NOTHING,
    preset: Mapping[str, AgentOutcome] = NOBODY,
    allowance: Allowance | None = None,
) -> Run:
    """Run the agents of a plan once, in one pass, without a score.

    Args:
        plan: A compiled team. If its output is none of its agents, the pass gives no answer.
        task: The task. Its reference answer reaches no agent.
        path: The pass's path in its journal: empty, or ending with a slash.
        state: What agents read of an earlier pass.
        preset: Outcomes of agents that do not run; they stay unchanged and cost nothing. One that
            is not done does not fail the pass; for agents that see it, the team's `on_error`
            decides.
        allowance: The remaining limits of the run that this pass belongs to. None if the pass is
            the whole run.

    Returns:
        The result. A run that fails or meets a limit is a result, not an exception.

    Raises:
        StorageError: The record can no longer be written.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    run = Running(
        plan=plan, task=task, context=context, path=path, state=state, preset=preset,
        allowance=allowance or Allowance(plan.team.execution.timeout),
    )  # fmt: skip
    try:
        result = await run.to_the_end()
    finally:
        run.let_go()
    run.allowance.count(result, path)
    context.trace.check()
    return result


class _FirstFailure(Exception):
    """An agent failed, and by the team's policy the run fails with it."""


@dataclass(kw_only=True, eq=False)
class Running:
    """A pass in progress. `limit` is the cap that it met, if any."""

    plan: Plan
    task: Task
    context: Context
    path: str
    state: RoundState
    preset: Mapping[str, AgentOutcome]
    allowance: Allowance
    limit: BudgetReached | None = None

    def __post_init__(self) -> None:
        journal = self.context.calls.journal
        self.started = time.monotonic()
        self.renewals = journal.renewals if journal else 1
        self.slots = asyncio.Semaphore(self.plan.workers)
        self.parts: dict[str, asyncio.Task[AgentOutcome]] = {}
        self.outcomes: dict[str, AgentOutcome] = {}
        self._reports: dict[str, AgentReport] = {}
        self.executions: dict[str, list[AgentExecution]] = {}
        self.lost: set[str] = set()
        self._budget = self.context.budget or Budget()
        self._agent_budgets: dict[str, Budget] = {}
        self._waited: list[bool] = []  # of each execution that was cut off
        self.has_failed = False
        self.patch: str | None = None
        self.conflict: str | None = None

    async def to_the_end(self) -> Run:
        """Run every agent, bounded by time, and sum up."""
        limit, whose = self._time_left()
        batched = self.context.calls.are_batched
        work = self.allowance.time.bounded() if batched else nullcontext()
        # Agents see the task through their workspace: the reference answer must not be there.
        with Workspaces(replaced(self.task, answer=None)) as self.workspaces:
            try:
                async with asyncio.timeout(limit), work:
                    await self._dataflow()
                    await self._hand_in()
            except TimeoutError:
                if batched and self.allowance.time.spent >= self.allowance.timeout:
                    whose = self._own_limit
                over = whose == BUDGET_OF_SECONDS
                run = self._summary("stopped", f"the run reached {whose}.", over_budget=over)
                waited = not over and run.answer is None and self._has_waited()
                return _slowed(run, whose) if waited else run
        if self.conflict is not None:
            return self._summary("failed", self.conflict)
        comes_through = self._comes_through()
        if self.limit is not None and (not comes_through or self._is_run_wide(self.limit)):
            return self._summary("stopped", str(self.limit), over_budget=True)
        if comes_through:
            return self._summary("done")
        return self._summary("failed", self._why())

    def let_go(self) -> None:
        """Break the reference cycle with the executions, so that all are freed at once."""
        self.parts.clear()
        self.executions.clear()

    def _comes_through(self) -> bool:
        """Return whether the pass has an answer, or, without an output, satisfies its policy."""
        if self.has_failed:  # by its policy, whether or not the output was there before
            return False
        output = self.outcomes.get(self.plan.output)
        if output is not None:
            return output.status == "done"
        if self.plan.team.execution.on_error != "fail":
            flags = [outcome.status == "done" for outcome in self.outcomes.values()]
            return not flags or any(flags)
        run = (
            outcome for agent_id, outcome in self.outcomes.items() if agent_id not in self.preset
        )
        return all(outcome.status == "done" or outcome.unneeded for outcome in run)

    async def _hand_in(self) -> None:
        """Merge the changes that reached the output into one patch, which is the answer.

        In a turn of an open roster, the lead decides when there is an answer.
        """
        output = self.outcomes.get(self.plan.output)
        if output is None or output.status != "done" or not output.changes:
            return
        if self.plan.output in self.state.mail:
            return
        from .handing_in import handed_in

        try:
            self.patch = await handed_in(self.workspaces, output.changes)
        except AgentError as error:
            self.conflict = f"agent {self.plan.output}: {error}"

    @property
    def _own_limit(self) -> str:
        return f"execution.timeout, {self.allowance.timeout:g} seconds"

    def _time_left(self) -> tuple[float | None, str]:
        """Return the seconds that the pass has, and the owner of that limit.

        A team's own limit excludes waits for batches.
        """
        limit = None if self.context.calls.are_batched else self.allowance.left()
        left = self.context.budget.left() if self.context.budget else None
        if left is None or (limit is not None and left > limit):
            return limit, self._own_limit
        return left, BUDGET_OF_SECONDS

    def _has_waited(self) -> bool:
        """Return whether its models used up its time: all waited at its end, or for most of it."""
        all_waited = bool(self._waited) and all(self._waited)
        return all_waited or self.allowance.time.spent < self.allowance.timeout / 2

    def _is_run_wide(self, limit: BudgetReached) -> bool:
        """Return whether a cap applies to more than one agent."""
        budget = self.context.budget
        while budget is not None and budget is not limit.budget:
            budget = budget.parent
        return budget is not None

    async def _dataflow(self) -> None:
        self._load_ahead()
        broken = None
        try:
            async with asyncio.TaskGroup() as self.group:
                for agent_id, planned in self.plan.agents.items():
                    self.parts[agent_id] = self.group.create_task(
                        self._part(planned), name=agent_id
                    )
        except* CoterieError as failures:
            broken = failures.exceptions[0]  # raised from here, some Pythons would wrap it again
        except* _FirstFailure:
            pass
        if broken is not None:
            raise broken

    def _load_ahead(self) -> None:
        """Import the libraries of waiting agents, which takes seconds the first time."""
        waiting: list[Any] = [
            planned.runner
            for agent_id, planned in self.plan.agents.items()
            if planned.sees and agent_id not in self.preset
        ]
        loop = asyncio.get_running_loop()
        loads = {runner.load for runner in waiting if hasattr(runner, "load")}
        loading = (loop.run_in_executor(None, load) for load in loads)
        asyncio.gather(*loading, return_exceptions=True)  # an agent that needs it fails by itself

    async def _part(self, planned: PlannedAgent) -> AgentOutcome:
        """Wait for the agents whose outputs the agent sees, run it, and report its outcome."""
        agent_id = planned.agent.id
        if agent_id in self.preset:
            return await self._stands(planned)
        outcome = None
        try:
            before = await inputs_of(self, planned)
            outcome = await unneeded(self, planned, before) or self._unready(before)
            outcome = outcome or await worked(self, planned, before)
            outcome = await self._passing_on(planned, outcome, before)
        finally:
            # An agent cancelled at work keeps its spending.
            outcome = outcome or self._cancelled(agent_id)
            self.outcomes[agent_id] = outcome
            self._tell_end(agent_id, outcome)
            # Its prompts and answers are freed before the run ends.
            for execution in self.executions.pop(agent_id, ()):
                execution.let_go()
        if outcome.status == "failed" and self.plan.team.execution.on_error == "fail":
            self.has_failed = True
            raise _FirstFailure
        return outcome

    async def _stands(self, planned: PlannedAgent) -> AgentOutcome:
        agent_id = planned.agent.id
        outcome = self.outcomes[agent_id] = without_cost(self.preset[agent_id])
        if self.task.repo is not None and not outcome.changes:  # it was read from a record
            before = {see: await self.parts[see] for see in planned.sees if see in self.preset}
            outcome = await self._passing_on(planned, outcome, before)
            self.outcomes[agent_id] = outcome
        content = outcome.result.content if outcome.result else None
        self.context.trace.emit("agent_given", agent_id, status=outcome.status, content=content)
        return outcome

    async def _passing_on(
        self, planned: PlannedAgent, outcome: AgentOutcome, before: Mapping[str, AgentOutcome]
    ) -> AgentOutcome:
        agent, start = planned.agent, self.start_of(planned.agent.id, before)
        if not (start or outcome.changes or (outcome.result and outcome.result.patch)):
            return outcome
        from .handing_in import passing_on

        passed = await passing_on(agent, outcome, before, start, self.workspaces)
        if passed.changes != start and not (outcome.result and outcome.result.patch):
            aside = [change.agent for change in start]
            self.context.trace.emit("work_chosen", agent.id, of=aside)
        return passed

    def budget_of(self, agent_id: str) -> Budget:
        """Return the budget for this process's spending on an agent and all its items."""
        if (caps := self.context.agent_caps) is None:
            return self._budget
        if agent_id not in self._agent_budgets:
            journal = self.context.calls.journal
            spent, seconds = self.allowance.of(agent_id, self.path, journal)
            budget = self._budget.child(caps, f"agent {agent_id}", spent=spent)
            budget.deposit(NOTHING_SPENT, seconds=seconds)
            self._agent_budgets[agent_id] = budget
        return self._agent_budgets[agent_id]

    def report_of(self, agent_id: str, outcome: AgentOutcome) -> AgentReport | None:
        """Return the report that all the agent's readers receive; None without a result."""
        result = outcome.result
        if result is not None and agent_id not in self._reports:
            self._reports[agent_id] = AgentReport(
                agent_id=agent_id,
                role=self.plan.agents[agent_id].agent.role,
                content=result.content,
                patch=result.patch,
                changes=outcome.changes,
            )
        return self._reports[agent_id] if result is not None else None

    def start_of(
        self, agent_id: str, before: Mapping[str, AgentOutcome]
    ) -> tuple[RepositoryChange, ...]:
        """Return the repository changes that an agent starts from; see `changes`."""
        own = self.state.own.get(agent_id)
        reached = (change for outcome in before.values() for change in outcome.changes)
        return newest([*(own.changes if own else ()), *reached])

    def _cancelled(self, agent_id: str) -> AgentOutcome:
        """Return the outcome of an agent that the run's end interrupted or kept waiting."""
        executions = self.executions.get(agent_id, ())
        if not executions:
            return AgentOutcome(status="cancelled")
        self._waited += [execution.waits for execution in executions]
        return AgentOutcome(
            status="cancelled",
            usage=sum((execution.usage for execution in executions), NOTHING_SPENT),
            seconds=max(execution.seconds for execution in executions),
            attempts=sum(execution.attempt.number for execution in executions),
            mishaps=tuple(
                dict.fromkeys(
                    name for execution in executions for name in execution.warnings.as_texts()
                )
            ),
        )

    async def result_of(self, agent_id: str) -> AgentResult | None:
        """Return the result of an earlier agent; None if it takes no part, or has no result."""
        part = self.parts.get(agent_id)
        return (await part).result if part is not None else None

    def _unready(self, before: Mapping[str, AgentOutcome]) -> AgentOutcome | None:
        """Return the outcome of an agent that cannot start under the team's policy; else None."""
        needed = {sender: outcome for sender, outcome in before.items() if not outcome.unneeded}
        lost = [sender for sender, outcome in needed.items() if outcome.status != "done"]
        if not lost:
            return None
        on_error = self.plan.team.execution.on_error
        if on_error == "skip":
            return AgentOutcome(status="skipped", error=f"it depends on {', '.join(lost)}.")
        if self.limit is not None and (on_error == "fail" or len(lost) == len(needed)):
            return AgentOutcome(status="cancelled", error="the run met a limit before its turn.")
        if len(lost) == len(needed):
            return AgentOutcome(status="failed", error="none of its colleagues reported anything.")
        return None

    async def attempted(
        self,
        planned: PlannedAgent,
        before: Mapping[str, AgentOutcome],
        item: Item | None = None,
    ) -> AgentOutcome:
        """Run an agent within its timeout, and retry it as its policy allows."""
        async with self.slots:
            if self.has_failed:  # the slot is free because the run is about to end
                raise _FirstFailure
            if planned.agent.id in self.lost:  # an item failed, and so has its list
                return AgentOutcome(status="cancelled")
            execution = AgentExecution(run=self, planned=planned, before=before, item=item)
            self.executions.setdefault(planned.agent.id, []).append(execution)
            if item is None or len(self.executions[planned.agent.id]) == 1:
                self._tell_start(planned, execution)
            outcome = await execution.outcome()
        if item is not None:
            if outcome.status == "failed" and self.plan.team.execution.on_error != "degrade":
                self.lost.add(planned.agent.id)
            text = outcome.result.content if outcome.result else None
            execution.emit(
                "item_finished", status=outcome.status, content=text, error=outcome.error
            )
        return outcome

    def _tell_start(self, planned: PlannedAgent, execution: AgentExecution) -> None:
        self.context.trace.emit(
            "agent_started",
            planned.agent.id,
            level=planned.level,
            backend=planned.backend,
            received=[report.agent_id for report in execution.inputs.reports],
            **({"left_out": left_out} if (left_out := execution.inputs.left_out) else {}),
            **({"items": execution.item.of} if execution.item else {}),
        )

    def _tell_end(self, agent_id: str, outcome: AgentOutcome) -> None:
        result = outcome.result
        self.context.trace.emit(
            "agent_finished",
            agent_id,
            status=outcome.status,
            seconds=round(outcome.seconds, 6),
            attempts=outcome.attempts,
            usage=outcome.usage.value(),
            content=shortened(result.content, LONGEST_EVENT) if result else None,
            steps=list(result.steps) if result else [],
            error=outcome.error,
            **({"source": source} if (source := self._source(agent_id)) else {}),
        )

    def _source(self, agent_id: str) -> str | None:
        """Return the source of the agent's result if it did not run here: `journal`, `parent`."""
        sources = {execution.source for execution in self.executions.get(agent_id, ())}
        return sources.pop() if len(sources) == 1 else None

    def _why(self) -> str:
        """Explain a missing answer by the first agent in Kahn order that failed."""
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
            agent_id: self.outcomes.get(agent_id) or AgentOutcome(status="cancelled")
            for agent_id in self.plan.agents
        }
        answer, text, output = None, None, outcomes.get(self.plan.output)
        if status != "failed" and output is not None and (result := output.result):
            answer = result.content if result.answer is None else result.answer
            if self.patch is not None and self.patch != answer:
                answer, text = self.patch, result.content
        return Run(
            status=status,
            answer=answer,
            answered_by=None if answer is None else self.plan.output,
            said=text,
            error=error,
            usage=total(outcome.usage for outcome in outcomes.values()),
            seconds=time.monotonic() - self.started,
            agents=outcomes,
            over_budget=over_budget,
        )


def _slowed(run: Run, limit: str) -> Run:
    """Mark a run as stopped for a reason outside its team's control."""
    error = f"the run reached {limit}, while it waited for its models."
    return replaced(run, error=error, fault="slow")
