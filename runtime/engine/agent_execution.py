"""One agent's execution in a run: its time, its attempts, and its outcome."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...schema.host.conforming import expected
from ...schema.host.foreign_code import foreign_code
from ...schema.values.codec import from_value, to_value
from ...schema.values.errors import (
    AgentError,
    CoterieError,
    JailError,
    StorageError,
)
from ..agents.outcomes import AgentOutcome, ToolCall, after
from ..agents.runner import AgentResult, Assignment
from ..gateway import CallError
from ..gateway.chat.dialogue import shortened
from ..jail.jails import Moves
from ..values.bounds import LONGEST_CONTENT
from ..values.budget import BudgetReached
from ..values.usage import NOTHING as NOTHING_SPENT
from ..values.warnings import Warnings
from .agent_inputs import AgentInputs
from .allowance import OwnTime
from .attempt import Attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..agents.items import Item
    from ..agents.outcomes import Status
    from ..plan.plan import PlannedAgent
    from ..record.journal import Journal
    from ..repository.workspace import Workspace
    from ..values.usage import Usage
    from .engine import Running


@dataclass(kw_only=True, eq=False)
class AgentExecution:
    """One agent's execution in a run, in one or more attempts."""

    run: Running
    planned: PlannedAgent
    before: Mapping[str, AgentOutcome]
    draft_of: AgentExecution | None = None
    item: Item | None = None

    def __post_init__(self) -> None:
        self.context = self.run.context
        self.draft: AgentExecution | None = None
        whole, part = self.draft_of, f"/item {self.item.number}" if self.item else ""
        own = f"{self.run.path}{self.planned.agent.id}{part}"
        self.path = f"{whole.path}/draft" if whole else own
        self.inputs = AgentInputs(
            run=self.run, planned=self.planned, before=self.before, item=self.item
        )
        self.attempt = Attempt(execution=self)
        self.warnings = Warnings(self.context.calls.scrub)
        self.broken: CoterieError | None = None
        self.forgot: CoterieError | None = None
        limit = self.planned.agent.timeout
        self.time = whole.time if whole else OwnTime(limit, whole=self.run.allowance.time)
        self.waits = False
        self.started = self.begun = time.monotonic()
        self.spending = self.run.budget_of(self.planned.agent.id).child()
        self.recorded = NOTHING_SPENT
        self.source: str | None = None
        self.has_acted = False
        self.moves = Moves(remembers=self._can_move and self.context.calls.journal is None)
        self.workspace: Workspace | None = None

    @property
    def _can_move(self) -> bool:
        """Whether it may have to start again in another jail."""
        planned = self.planned
        return planned.runner.needs_jail(planned.agent) and self.context.jails.elsewhere

    @property
    def _place(self) -> str:
        """The name of its folder for files; each item has its own."""
        agent_id = self.planned.agent.id
        return f"{agent_id}-item-{self.item.number}" if self.item else agent_id

    @property
    def seconds(self) -> float:
        """Seconds since its start, waits for its models included."""
        return time.monotonic() - self.started

    @property
    def usage(self) -> Usage:
        """The usage of all its calls, including those cut off and those of the journal."""
        used = self.spending.spent + self.recorded
        return used + self.draft.usage if self.draft else used

    async def outcome(self) -> AgentOutcome:
        """Return the agent's recorded outcome, or run it.

        An agent that drafts first runs without its memory. If the memory has nothing for the task,
        or the draft fails, the draft's outcome is the agent's.
        """
        if not self.planned.agent.drafts:
            await self._recall()
            return await self._settled()
        drafted = await self._drafted()
        if drafted.result is None:
            return drafted
        self.begun = time.monotonic()
        await self._recall(drafted.result.content)
        if not self.inputs.recalled and self.forgot is None:
            return drafted
        return after(drafted, await self._settled())

    async def _drafted(self) -> AgentOutcome:
        """Let the agent answer without its memory, under a journal path of its own."""
        agent = replace(self.planned.agent, recall=None)
        planned = replace(self.planned, agent=agent)
        self.draft = AgentExecution(
            run=self.run, planned=planned, before=self.before, draft_of=self, item=self.item
        )
        drafted = await self.draft.outcome()
        text = drafted.result.content if drafted.result else None
        self.emit("drafted", status=drafted.status, content=text, error=drafted.error)
        return drafted

    async def _settled(self) -> AgentOutcome:
        """Return the recorded outcome for the agent's question, or run it."""
        journal = self.context.calls.journal
        if journal is None:
            return await self._run()
        key = self.inputs.digest()
        async with journal.alone(self.path, key):
            return await self._journaled(journal, key)

    async def _journaled(self, journal: Journal, key: str) -> AgentOutcome:
        if not journal.replaying and (recorded := journal.get(self.path, key)) is not None:
            hits = from_value(AgentOutcome, recorded)
            self.recorded, self.source = hits.usage, recorded.get("source", "journal")
            return hits
        outcome = await self._run()
        if outcome.result is not None:
            if journal.replaying:
                result = outcome.result
                fields = {"content": result.content, "answer": result.answer, "patch": result.patch}
                journal.compare(self.path, key, fields)
            # An agent that only called its model is reproduced by its answers, which are written.
            value = to_value(outcome)
            await journal.put(self.path, "agent", key, value, at_once=self.has_acted)
        return outcome

    async def _recall(self, drafted: str = "") -> None:
        """Recall memory entries for the agent; a failure is raised when the agent runs."""
        agent, task = self.planned.agent, self.run.workspaces.task
        if (wanted := agent.recall) is None:
            return
        from ..messages.recall import fitting, reminded

        carried = self.inputs.carried
        own = carried.own.content if carried.own and wanted.by == "opinion" else ""
        try:
            entries = await reminded(
                agent, task, self.context.recaller, self.attempt.once, drafted or own
            )
        except StorageError:
            raise
        except CoterieError as error:
            self.forgot = error
        else:
            self.inputs.recalled = fitting(entries, wanted)
            records = [entry.origin for entry in entries]
            self.emit("recalled", by=wanted.by, entries=records, shown=len(self.inputs.recalled))

    async def _run(self) -> AgentOutcome:
        limit = self.planned.agent.timeout
        status: Status = "failed"
        result, error, fault = None, None, None
        try:
            async with self.time.bounded():
                with self.time.at_work():
                    if self.forgot is not None:
                        raise self.forgot
                    result = await self._retried()
            status = "done"
        except TimeoutError:
            of_work = "" if limit is None else f", {limit:g} seconds of work"
            error, fault = f"it reached its timeout{of_work}.", "agent"
        except BudgetReached as reached:
            self.run.limit = self.run.limit or reached
            # Not failed: with a higher cap the same run continues from here.
            status, error = "cancelled", str(reached)
        except CoterieError as failure:
            usual = "memory" if failure is self.forgot else "agent"
            error, fault = self.context.calls.scrub(self._why(failure)), _fault(failure, usual)
        self.context.trace.check()
        if self.broken is not None:  # even if the agent's library hid the error
            raise self.broken
        return AgentOutcome(
            status=status,
            result=result,
            error=error,
            fault=fault,
            usage=self.spending.spent + self.recorded,
            seconds=time.monotonic() - self.begun,
            attempts=self.attempt.number,
            tool_calls=tuple(self.attempt.tool_calls),
            mishaps=self.warnings.as_texts(),
            dialogue=self.attempt.dialogue,
            recalled=len(self.inputs.recalled),
        )

    def _why(self, failure: CoterieError) -> str:
        """Return why it failed; add a model's empty answer, which its library cannot know."""
        text, unanswered = str(failure), self.attempt.unanswered
        has_words = not unanswered or unanswered in text
        return text if has_words else f"{text} In its last answer, {unanswered}"

    async def _retried(self) -> AgentResult:
        """Run the agent until it succeeds or has no retry left.

        A failed model call is no reason to run the agent again: the gateway has retried it. Nor is
        the failure of an agent that calls no model: it would fail in the same way.
        """
        asks_model = self.planned.calls_at_most > 0
        retries = self.run.plan.team.execution.max_retries if asks_model else 0
        most = (1 + retries) * self.run.renewals
        while True:
            self.attempt = Attempt(execution=self, number=self.attempt.number + 1)
            try:
                return await self._tried_wherever()
            except AgentError as error:
                if self.attempt.number >= most or self.broken is not None:
                    raise
                self.emit("agent_retried", attempt=self.attempt.number, error=str(error))

    async def _tried_wherever(self) -> AgentResult:
        """Run the agent once, and again each time that the machine with its jail is lost.

        It remains the same attempt: earlier answers are in the journal, or in memory, so no call is
        paid twice, and no tool acts twice.
        """
        mishaps = self.warnings.times()
        while True:
            try:
                return await self._attempt()
            except JailError as lost:
                if not lost.is_lost or not self.moves.again() or self.broken is not None:
                    raise
                fields = {
                    "attempt": self.attempt.number,
                    "moves": self.moves.count,
                    "error": str(lost),
                }
                self.emit("agent_moved", **fields)
            if self.workspace is not None:
                await asyncio.to_thread(self.workspace.discard)
            self.attempt = Attempt(execution=self, number=self.attempt.number)
            self.warnings.go_back(mishaps)

    async def _attempt(self) -> AgentResult:
        assignment = self._assignment()
        result = await self._result(assignment)
        if assignment.workspace.is_used or self.inputs.start:
            await self._check_repository(assignment.workspace, result)
        if fields := await self._kept(assignment.workspace):
            self.emit("files_written", **fields)
        record = shortened({"content": result.content, "answer": result.answer}, LONGEST_CONTENT)
        if record["content"] != result.content or record["answer"] != result.answer:
            self.emit("cut_off", finish_reason="too_long", characters=len(result.content))
            result = replace(result, **record)
        return result

    async def _check_repository(self, workspace: Workspace, result: AgentResult) -> None:
        """Report changes to the repository that the answer ignores, and check a choice of one."""
        from .handing_in import chosen, unused

        if fields := await unused(workspace, result):
            self.emit("work_unused", **fields)
        chosen(self.planned.agent, result, self.before)  # raises if it named no colleague

    async def _kept(self, workspace: Workspace) -> Mapping[str, Any] | None:
        """Keep the files that the agent wrote, and describe them."""
        if self.context.keep is None or workspace.has_repository or not workspace.is_made:
            return None
        from .artifacts import keep_written

        return await keep_written(self._place, workspace, self.context.keep)

    async def _result(self, assignment: Assignment) -> AgentResult:
        """Let the backend run the agent; a plug-in's backend may raise or return anything."""
        name = f"the backend {self.planned.backend}"
        with foreign_code(name):
            result: Any = await self.planned.runner.run(assignment)
        return expected(result, AgentResult, name, AgentError)

    def _assignment(self) -> Assignment:
        run, context, inputs = self.run, self.context, self.inputs
        agent, attempt, task = self.planned.agent, self.attempt, run.workspaces.task
        place = f"{self._place}-draft" if self.draft_of else self._place
        workspace = self.workspace = run.workspaces.of(place, attempt.number, inputs.start)
        own = (workspace, self.emit, attempt.once)
        tools = context.toolbox.granted(agent.tools, *own, self.time.waiting, show=inputs.show)
        if self.planned.looks_skills_up:
            from ..messages.skills import reader

            tools = {**tools, **reader(self.planned, *own)}
        assigned = Assignment(
            agent=agent,
            system=inputs.system,
            question=inputs.question,
            task=task.seen_by(agent.id),
            reports=inputs.reports,
            missing=inputs.missing,
            client=attempt,
            tools=tools,
            workspace=workspace,
            jails=context.jails,
            waiting=self.waiting,
            once=attempt.once,
            emit=self.emit,
        )
        return inputs.turn.assigned(assigned) if inputs.turn else assigned

    def emit(self, event: str, /, **fields: Any) -> None:
        """Record an event of this agent."""
        if event == "tool_call":
            call = {name: fields[name] for name in ("tool", "arguments", "error") if name in fields}
            self.attempt.tool_calls.append(ToolCall(**call))
        self.warnings.note(event, fields)
        number = {"item": self.item.number} if self.item else {}
        self.context.trace.emit(event, self.planned.agent.id, **fields, **number)

    def let_go(self) -> None:
        """Break the reference cycles with its attempt and its draft, so that all are freed."""
        del self.attempt
        if self.draft is not None:
            self.draft.let_go()
            self.draft = None

    def waiting(self) -> AbstractContextManager[None]:
        """Return the context of a wait for others, outside the agent's own time."""
        return _Wait(self.draft_of or self)


class _Wait(AbstractContextManager[None]):
    """An agent's wait for others, outside its own time. `waits` stays True if it is cut off."""

    __slots__ = ("_agent",)

    def __init__(self, agent: AgentExecution) -> None:
        self._agent = agent

    def __enter__(self) -> None:
        self._agent.waits = True
        self._agent.time.change(-1)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._agent.time.change(1)
        self._agent.waits = kind is not None and not issubclass(kind, Exception)


def _fault(failure: CoterieError, usual: str) -> str:
    match failure:
        case CallError():
            return failure.kind
        case JailError():
            return "jail"
        case _:
            return usual
