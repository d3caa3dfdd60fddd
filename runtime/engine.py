"""The engine: runs a plan on a task, as dataflow.

Every agent is one asyncio task that waits for those whose outputs it sees; there are no barriers
between levels and nothing polls. When the run ends, for whatever reason, nothing of it is left.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ..schema.errors import AgentError, CoterieError
from .gateway import CallError, ChatRequest, Usage
from .messages import question, system
from .runners.protocol import AgentResult, Assignment, Report
from .scorers import Score, score
from .trace import Trace
from .workspace import Workspaces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..schema.task import Task
    from .gateway import ChatAnswer, Gateway, Message
    from .jail import Jails
    from .plan import Plan, PlannedAgent
    from .tools import Toolbox

__all__ = ["AgentOutcome", "Run", "execute"]

Status = Literal["done", "failed", "skipped", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentOutcome:
    """How an agent's part of a run ended.

    Attributes:
        status: `done`; `failed`; `skipped`, because someone it depends on failed; `cancelled`,
            because the run ended first.
        result: What it came to, when done.
        error: Why it failed, in words.
        usage: What its model calls consumed, failed attempts included.
        seconds: From its first attempt to its end.
        attempts: How often it was run.
    """

    status: Status
    result: AgentResult | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    attempts: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One execution of a plan on a task.

    Attributes:
        status: `done` with an answer; `failed` without; `stopped` by a limit of the user's.
        answer: The output agent's answer, when done.
        score: How it compares with the reference answer, where the task has one.
        error: Why there is no answer.
        usage: What all model calls consumed.
        seconds: From start to end.
        agents: Each agent's outcome by id, in Kahn order.
    """

    status: Literal["done", "failed", "stopped"]
    answer: str | None = None
    score: Score | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    agents: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])


async def execute(
    plan: Plan,
    task: Task,
    *,
    gateway: Gateway,
    jails: Jails,
    toolbox: Toolbox,
    trace: Trace | None = None,
    seed: int | None = None,
) -> Run:
    """Run a plan on a task.

    Args:
        plan: A compiled team.
        task: What is asked. Its reference answer reaches the scorer only.
        gateway: The way to models. Its owner closes it.
        jails: Where code that agents write may run.
        toolbox: The tools that agents can be granted. Its owner closes it.
        trace: Told everything that happens.
        seed: Makes sampling repeatable where the endpoint allows it.

    Returns:
        What came of it. A run that fails or meets a limit is a result, not an exception.

    Raises:
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    trace = trace or Trace()
    run = _Running(
        plan=plan, task=task, gateway=gateway, jails=jails, toolbox=toolbox, trace=trace, seed=seed
    )
    trace.emit("run_started", team=plan.team.name, task=task.id, content_hash=plan.content_hash)
    result = await run.to_the_end()
    trace.emit("run_finished", status=result.status, error=result.error, seconds=result.seconds)
    return result


class _FirstFailure(Exception):
    """An agent failed, and the team's policy is that the run fails with it."""


@dataclass(kw_only=True, eq=False)
class _Running:
    """A run under way."""

    plan: Plan
    task: Task
    gateway: Gateway
    jails: Jails
    toolbox: Toolbox
    trace: Trace
    seed: int | None

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self.slots = asyncio.Semaphore(self.plan.workers)
        self.parts: dict[str, asyncio.Task[AgentOutcome]] = {}
        self.outcomes: dict[str, AgentOutcome] = {}

    async def to_the_end(self) -> Run:
        """Run every agent's part, bounded by the team's timeout, and sum up."""
        limit = self.plan.team.execution.timeout
        with Workspaces(replace(self.task, answer=None)) as self.workspaces:
            try:
                async with asyncio.timeout(limit):
                    await self._dataflow()
            except TimeoutError:
                return self._summary(
                    "stopped", f"the run reached execution.timeout, {limit:g} seconds."
                )
        output = self.outcomes[self.plan.output]
        if output.status == "done":
            return self._summary("done")
        return self._summary("failed", self._why())

    async def _dataflow(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for agent_id, planned in self.plan.agents.items():
                    self.parts[agent_id] = group.create_task(self._part(planned), name=agent_id)
        except* _FirstFailure:
            pass

    async def _part(self, planned: PlannedAgent) -> AgentOutcome:
        """Wait for those whose outputs the agent sees, run it, and tell how it ended."""
        agent_id = planned.agent.id
        outcome = AgentOutcome(status="cancelled")
        try:
            before = {seen: await self.parts[seen] for seen in planned.sees}
            outcome = self._unready(before) or await self._attempted(planned, before)
        finally:
            self.outcomes[agent_id] = outcome
            self._tell_end(agent_id, outcome)
        if outcome.status == "failed" and self.plan.team.execution.on_error == "fail":
            raise _FirstFailure
        return outcome

    def _unready(self, before: Mapping[str, AgentOutcome]) -> AgentOutcome | None:
        """Tell how an agent ends that cannot start, by the team's policy; None where it can."""
        lost = [seen for seen, outcome in before.items() if outcome.status != "done"]
        if not lost:
            return None
        if self.plan.team.execution.on_error == "skip":
            return AgentOutcome(status="skipped", error=f"it depends on {', '.join(lost)}.")
        if len(lost) == len(before):
            return AgentOutcome(status="failed", error="none of its colleagues reported anything.")
        return None

    async def _attempted(
        self, planned: PlannedAgent, before: Mapping[str, AgentOutcome]
    ) -> AgentOutcome:
        """Run an agent, again where it failed and may try again, within its timeout."""
        async with self.slots:
            desk = _Desk(run=self, planned=planned, before=before)
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
        self, status: Literal["done", "failed", "stopped"], error: str | None = None
    ) -> Run:
        outcomes = {
            agent_id: self.outcomes.get(agent_id, AgentOutcome(status="cancelled"))
            for agent_id in self.plan.agents
        }
        answer = None
        if status == "done" and (result := outcomes[self.plan.output].result):
            answer = result.content if result.answer is None else result.answer
        return Run(
            status=status,
            answer=answer,
            score=None if answer is None else score(self.task, answer),
            error=error,
            usage=sum((outcome.usage for outcome in outcomes.values()), Usage()),
            seconds=time.monotonic() - self.started,
            agents=outcomes,
        )


@dataclass(kw_only=True, eq=False)
class _Desk:
    """An agent's place in a run: what it received, and its line to its model."""

    run: _Running
    planned: PlannedAgent
    before: Mapping[str, AgentOutcome]

    def __post_init__(self) -> None:
        self.usage = Usage()
        self.calls = 0
        self.attempts = 0
        self.reports = tuple(
            Report(
                agent_id=seen,
                role=self.run.plan.agents[seen].agent.role,
                content=outcome.result.content,
                patch=outcome.result.patch,
            )
            for seen, outcome in self.before.items()
            if outcome.result is not None
        )

    async def outcome(self) -> AgentOutcome:
        """Run the agent to an outcome."""
        started, limit = time.monotonic(), self.planned.agent.timeout
        result, error = None, None
        try:
            async with asyncio.timeout(limit):
                result = await self._retried()
        except TimeoutError:
            error = f"it reached its timeout, {limit:g} seconds."
        except CoterieError as failure:
            error = str(failure)
        return AgentOutcome(
            status="done" if result else "failed",
            result=result,
            error=error,
            usage=self.usage,
            seconds=time.monotonic() - started,
            attempts=self.attempts,
        )

    async def _retried(self) -> AgentResult:
        """Run the agent until it succeeds or has no retry left.

        A failed model call is not a reason to run the agent again: the gateway has retried it.
        Nor is the failure of an agent that asks no model: it would fail in the same way.
        """
        asks_model = self.planned.calls_at_most > 0
        retries = self.run.plan.team.execution.max_retries if asks_model else 0
        while True:
            self.attempts += 1
            try:
                return await self.planned.runner.run(self._assignment())
            except AgentError as error:
                if self.attempts > retries:
                    raise
                self.emit("agent_retried", attempt=self.attempts, error=str(error))

    def _assignment(self) -> Assignment:
        run, planned = self.run, self.planned
        missing = tuple(seen for seen, outcome in self.before.items() if outcome.result is None)
        task = run.workspaces.task
        patches = [report.patch for report in self.reports if report.patch]
        workspace = run.workspaces.of(planned.agent.id, self.attempts, patches)
        return Assignment(
            agent=planned.agent,
            system=system(planned, run.plan.team.constitution, has_reports=bool(self.reports)),
            question=question(task, self.reports, missing),
            task=task,
            reports=self.reports,
            missing=missing,
            line=self,
            tools=run.toolbox.granted(planned.agent.tools, workspace, self.emit),
            workspace=workspace,
            jails=run.jails,
            emit=self.emit,
        )

    def emit(self, event: str, /, **fields: Any) -> None:
        """Note an event of this agent."""
        self.run.trace.emit(event, self.planned.agent.id, **fields)

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: Any = None,
        schema: Mapping[str, Any] | None = None,
    ) -> ChatAnswer:
        """Ask the agent's model; see `ModelLine.chat`."""
        agent = self.planned.agent
        self.calls += 1
        path = f"{agent.id}/attempt {self.attempts}/call {self.calls}"
        request = ChatRequest(
            model=agent.model_id,
            messages=messages,
            max_tokens=min(max_tokens or agent.max_tokens, agent.max_tokens),
            temperature=agent.temperature,
            seed=_seed(self.run.seed, path),
            stop=tuple(stop),
            tools=tools,
            tool_choice=tool_choice,
            schema=schema,
            retries=self.run.plan.team.execution.max_retries,
        )
        try:
            answer = await self.run.gateway.chat(request, self._tell_retry)
        except CallError as error:
            self.emit("model_error", path=path, kind=error.kind, error=str(error))
            raise
        self.usage += answer.usage
        self._tell_call(path, request, answer)
        return answer

    def _tell_retry(self, error: CallError, wait: float) -> None:
        self.emit("model_retried", kind=error.kind, error=str(error), wait=round(wait, 3))

    def _tell_call(self, path: str, request: ChatRequest, answer: ChatAnswer) -> None:
        self.emit(
            "model_call",
            path=path,
            alias=request.model,
            model=answer.model,
            messages=list(request.messages),
            text=answer.text,
            tool_calls=[asdict(call) for call in answer.tool_calls],
            finish_reason=answer.finish_reason,
            usage=answer.usage.value(),
            attempts=answer.attempts,
            seconds=round(answer.seconds, 6),
        )


def _seed(seed: int | None, path: str) -> int | None:
    """Derive a call's seed from the run's, so that it depends on who asks and not on when."""
    if seed is None:
        return None
    digest = hashlib.sha256(f"{seed}/{path}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
