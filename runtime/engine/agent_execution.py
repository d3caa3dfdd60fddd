"""One agent's execution in a run: its inputs, its model client, and its result."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ...schema.host.conforming import expected
from ...schema.host.foreign_code import foreign_code
from ...schema.values.attachments import MOST_IN_ALL
from ...schema.values.codec import from_value, to_value
from ...schema.values.errors import (
    AgentError,
    CoterieError,
    InputError,
    JailError,
    ModelError,
    StorageError,
)
from ...schema.values.values import is_list
from ..agents.outcomes import AgentOutcome, ToolCall, after
from ..agents.round_state import NOTHING
from ..agents.runner import AgentResult, Assignment
from ..calls.calls import scrubbed
from ..gateway import CallError, ChatRequest
from ..gateway.chat.dialogue import as_dialogue, clipped, shortened
from ..gateway.chat.ending import why_only_thinking
from ..jail.jails import Moves
from ..messages.messages import UNBURDENED, question, system
from ..record.journal import digest, digest_of
from ..values.bounds import LARGEST_WORK, LONGEST_CONTENT, LONGEST_REPORTS
from ..values.budget import BudgetReached
from ..values.usage import NOTHING as NOTHING_SPENT
from ..values.warnings import Warnings
from .allowance import OwnTime

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from ...schema.values.attachments import Attachment
    from ..agents.items import Item
    from ..agents.outcomes import Status
    from ..agents.round_state import AgentState, RoundState
    from ..agents.runner import AgentReport
    from ..gateway import ChatAnswer, Message
    from ..messages.recall import MemoryEntry
    from ..plan.plan import PlannedAgent
    from ..record.journal import Journal
    from ..repository.workspace import Workspace
    from ..tools.requested import Requests
    from ..values.usage import Usage
    from .engine import Running
    from .turn import AgentTurn

CONTENT = attrgetter("content")


@dataclass(kw_only=True, eq=False)
class AgentExecution:
    """One agent's execution in a run; `left_out` counts the characters cut from its reports."""

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
        carried = _state_of(self.run.state, self.planned.agent.id)
        # The agent's previous report is a list, from which an item cannot continue.
        self.carried = replace(carried, own=None) if self.item else carried
        self.turn = self._turn()
        self.attempts = 0
        self.numbers: dict[str, int] = {}
        self.output_size = 0
        self.tool_calls: list[ToolCall] = []
        self.dialogue: tuple[Message, ...] = ()
        self.unanswered = ""
        self.requests: Requests | None = None
        self.warnings = Warnings(self.context.calls.scrub)
        self.broken: CoterieError | None = None
        self.recalled: tuple[MemoryEntry, ...] = ()
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
        reported = self._reports()
        self.reports = _bounded(reported)
        self.left_out = _length(reported) - _length(self.reports)
        self.start = self.run.start_of(self.planned.agent.id, self.before)
        self.attachments: Mapping[str, Attachment] = {}
        if (task := self.run.workspaces.task).attachments:
            from ..messages.attached import seen_by

            self.attachments = seen_by(self.planned, task)
        self.pictures: dict[str, Attachment] = {}
        silent = {name: outcome for name, outcome in self.before.items() if outcome.result is None}
        self.missing = tuple(name for name, outcome in silent.items() if not outcome.unneeded)
        self.unneeded = tuple(name for name, outcome in silent.items() if outcome.unneeded)

    def _turn(self) -> AgentTurn | None:
        """Return its turn in an open roster; None without mail of one."""
        if (mail := self.carried.mail) is None:
            return None
        from .turn import turn_of

        return turn_of(self.planned, self.run.plan.team, mail)

    def _reports(self) -> list[AgentReport]:
        """Return the reports of the agents whose output it sees."""
        return [
            report
            for sender, outcome in self.before.items()
            if (report := self.run.report_of(sender, outcome)) is not None
        ]

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
        if not self.recalled and self.forgot is None:
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
        key = self._digest()
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

        own = self.carried.own.content if self.carried.own and wanted.by == "opinion" else ""
        try:
            entries = await reminded(agent, task, self.context.recaller, self.once, drafted or own)
        except StorageError:
            raise
        except CoterieError as error:
            self.forgot = error
        else:
            self.recalled = fitting(entries, wanted)
            records = [entry.origin for entry in entries]
            self.emit("recalled", by=wanted.by, entries=records, shown=len(self.recalled))

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
            attempts=self.attempts,
            tool_calls=tuple(self.tool_calls),
            mishaps=self.warnings.as_texts(),
            dialogue=self.dialogue,
            recalled=len(self.recalled),
        )

    def _why(self, failure: CoterieError) -> str:
        """Return why it failed; add a model's empty answer, which its library cannot know."""
        text, unanswered = str(failure), self.unanswered
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
            self.attempts += 1
            self._begin()
            try:
                return await self._tried_wherever()
            except AgentError as error:
                if self.attempts >= most or self.broken is not None:
                    raise
                self.emit("agent_retried", attempt=self.attempts, error=str(error))

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
                fields = {"attempt": self.attempts, "moves": self.moves.count, "error": str(lost)}
                self.emit("agent_moved", **fields)
            if self.workspace is not None:
                await asyncio.to_thread(self.workspace.discard)
            self._begin()
            self.warnings.go_back(mishaps)

    def _begin(self) -> None:
        """Reset the state of an attempt."""
        # A repeated attempt uses the same paths, and so finds its answers.
        self.numbers.clear()
        self.output_size = 0
        self.tool_calls.clear()
        self.dialogue = ()
        self.unanswered = ""
        self.requests = None

    async def _attempt(self) -> AgentResult:
        assignment = self._assignment()
        result = await self._result(assignment)
        if assignment.workspace.is_used or self.start:
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

    @cached_property
    def _system(self) -> str:
        has_reports = bool(self.reports or (self.carried and not self.turn))
        team, agent = self.run.plan.team, self.planned.agent
        text = system(
            self.turn.planned if self.turn else self.planned,
            team.constitution,
            has_reports=has_reports,
            noted=team.known_to(agent),
            paired=team.paired_with(agent),
            task=self.run.workspaces.task,
        )
        return self.turn.instructions(text) if self.turn else text

    @cached_property
    def _question(self) -> str:
        """Return its prompt: in a further turn of an open roster, only what is new.

        The prompt contains recalled entries, so it is not requested before they are known.
        """
        if self.turn and self.carried.earlier:
            return self.turn.news()
        return "\n\n".join([self._written_question(), *([self.turn.news()] if self.turn else ())])

    def _written_question(self) -> str:
        task = self.run.workspaces.task
        brief = task.briefs.get(self.planned.agent.id, "")
        carried = UNBURDENED if self.turn else self.carried  # its mail has the rest
        parts = (task, self.reports, self.missing, carried, self.recalled)
        files: dict[str, Any] = {}
        if task.files:
            from ..messages.attached import shown_files, unread_files

            files["texts"] = shown_files(self.planned, task)
            files["unread"] = unread_files(self.planned, task)
        return question(
            *parts,
            brief=brief,
            visible=self.attachments,
            unneeded=self.unneeded,
            item=self.item,
            **files,
        )

    def _assignment(self) -> Assignment:
        run, context, agent = self.run, self.context, self.planned.agent
        task = run.workspaces.task
        place = f"{self._place}-draft" if self.draft_of else self._place
        workspace = self.workspace = run.workspaces.of(place, self.attempts, self.start)
        own = (workspace, self.emit, self.once)
        tools = context.toolbox.granted(agent.tools, *own, self.time.waiting, show=self._show)
        if self.planned.looks_skills_up:
            from ..messages.skills import reader

            tools = {**tools, **reader(self.planned, *own)}
        assigned = Assignment(
            agent=agent,
            system=self._system,
            question=self._question,
            task=task.seen_by(agent.id),
            reports=self.reports,
            missing=self.missing,
            client=self,
            tools=tools,
            workspace=workspace,
            jails=context.jails,
            waiting=self._waiting,
            once=self.once,
            emit=self.emit,
        )
        return self.turn.assigned(assigned) if self.turn else assigned

    def _digest(self) -> str:
        """Return the digest of everything that the agent's outcome depends on."""
        task = self.run.workspaces.task
        patches = [report.patch for report in self.reports]
        repo = str(task.repo.resolve()) if task.repo else None
        parts = (
            *(dict(task.files), task.attached, repo, task.commit),
            self.carried.own.patch if self.carried.own else None,
            [change.key for change in self.start],
            self.context.dialogue,
            self.carried.earlier,
            self.turn.tool_inputs() if self.turn else None,
        )
        read = (self._system, self._question, patches, *parts)
        return digest_of(self.planned.shape_json, *read)

    def emit(self, event: str, /, **fields: Any) -> None:
        """Record an event of this agent."""
        if event == "tool_call":
            call = {name: fields[name] for name in ("tool", "arguments", "error") if name in fields}
            self.tool_calls.append(ToolCall(**call))
        self.warnings.note(event, fields)
        number = {"item": self.item.number} if self.item else {}
        self.context.trace.emit(event, self.planned.agent.id, **fields, **number)

    async def once(
        self, kind: str, inputs: Any, work: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Return the recorded result of an action of the agent, or perform it; see `Once`."""
        self.has_acted = True
        question = digest(inputs)
        path = self._next(f"{kind} {question[:12]}")
        journal = self.context.calls.journal
        if journal is None:
            scrub = self.context.calls.scrub
            return scrubbed(await self.moves.once(path, work), scrub)
        try:
            recorded = journal.get(path, question)
            if recorded is not None:
                return recorded
            journal.must_be_live(path)
            # Earlier entries must survive a power cut, because the act itself is irreversible.
            await journal.flush()
            value = scrubbed(await work(), self.context.calls.scrub)
            self._bound(value)
            await journal.put(path, kind, question, value)
        except StorageError as error:
            self.broken = error
            raise
        return value

    def _bound(self, value: Mapping[str, Any]) -> None:
        """Limit the output of all tools and code of an attempt, which the run's folder keeps."""
        texts = (text for item in value.values() for text in (item if is_list(item) else [item]))
        self.output_size += sum(len(text) for text in texts if isinstance(text, str))
        if self.output_size > LARGEST_WORK:
            raise AgentError(
                f"its tools and its code gave more than {LARGEST_WORK >> 20} MiB in one attempt."
            )

    def _next(self, name: str) -> str:
        """Return the path of the next action with this name in this attempt."""
        number = self.numbers[name] = self.numbers.get(name, 0) + 1
        return f"{self.path}/attempt {self.attempts}/{name} {number}"

    def _waiting(self) -> AbstractContextManager[None]:
        return _Wait(self.draft_of or self)

    def _show(self, attachment: Attachment) -> bool:
        """From now on, show the model an attachment of a tool's answer, if it accepts that kind."""
        from ..gateway.chat.inputs import takes

        shown = {**self.attachments, **self.pictures, attachment.marker: attachment}
        size = sum(len(entry.content) for entry in shown.values())
        model = self.planned.model
        if model is None or not takes(model, attachment) or size > MOST_IN_ALL:
            return False
        self.pictures[attachment.marker] = attachment
        return True

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
        """Call the agent's model; see `AgentClient.chat`."""
        agent, execution = self.planned.agent, self.run.plan.team.execution
        if self.carried.earlier:
            from ..messages.conversation import continued

            messages = continued(messages, self.carried.earlier)
        self.context.trace.check()
        request = ChatRequest(
            model=agent.model_id,
            messages=messages,
            attachments={**self.attachments, **self.pictures},
            max_tokens=min(max_tokens or agent.max_tokens, agent.max_tokens),
            temperature=agent.temperature,
            top_p=agent.top_p,
            effort=agent.effort,
            stop=tuple(stop),
            tools=tools,
            tool_choice=tool_choice,
            schema=schema,
            retries=execution.max_retries,
            patience=agent.timeout,
        )
        # Other calls of the agent may be in flight: their spending is not this call's.
        spending, path = self.spending.child(), self._next("call")
        try:
            with self._waiting():
                answer = await self.moves.once(
                    path,
                    lambda: self.context.calls.chat(
                        path,
                        request,
                        self.emit,
                        budget=spending,
                        trim=execution.on_overflow == "trim",
                        on_words=self.context.trace.words_of(agent.id),
                    ),
                )
        except CallError:
            raise
        except (StorageError, InputError, ModelError) as error:
            self.broken = error
            raise
        # The answer is from the journal or the cache; usage counted before a move stays out.
        if self.moves.counts(path) and not spending.spent.calls:
            self.recorded += answer.usage
        if self.context.dialogue:
            self.dialogue = as_dialogue(messages, answer, self.context.dialogue)
        self.unanswered = why_only_thinking(answer, request.max_tokens)
        if self.unanswered:
            self.emit("only_thought", finish_reason=answer.finish_reason, why=self.unanswered)
        if not tools:
            self.requests = None
            return answer
        checked = self._requests().checked(answer, tools)
        if checked.refused:
            self.emit("repair", problems=[checked.refused])
        return checked

    def _requests(self) -> Requests:
        """Return the checks of its tool calls since it was last called without tools."""
        if self.requests is None:
            from ..tools.requested import Requests

            self.requests = Requests()
        return self.requests


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


def _state_of(state: RoundState, agent_id: str) -> AgentState:
    """Return the state carried over for an agent, cut as it is read."""
    if state is NOTHING:
        return UNBURDENED
    carried = state.of(agent_id)
    own = _bounded([carried.own])[0] if carried.own else None
    return replace(carried, own=own, letters=_bounded(carried.letters))


def _bounded(reports: Sequence[AgentReport]) -> tuple[AgentReport, ...]:
    """Return reports cut as they are read: if too long together, the longest are cut."""
    if _length(reports) <= LONGEST_REPORTS:
        return tuple(reports)
    texts = clipped([report.content for report in reports], LONGEST_REPORTS)
    return tuple(
        report if report.content is text else replace(report, content=text)
        for report, text in zip(reports, texts, strict=True)
    )


def _length(reports: Sequence[AgentReport]) -> int:
    return sum(map(len, map(CONTENT, reports)))


def _fault(failure: CoterieError, usual: str) -> str:
    match failure:
        case CallError():
            return failure.kind
        case JailError():
            return "jail"
        case _:
            return usual
