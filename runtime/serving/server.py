"""Answers requests of all protocols with runs."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from ...schema.values.errors import CoterieError, InputError
from ..messages.attached import refuse_unread
from ..plan.plan import compile
from ..record.journal import digest
from ..record.trace import RunFolder, Trace
from ..runs.again import load_recorded
from ..runs.conversation import continued_run
from ..runs.record import RunRecord, as_recorded, read_result
from ..runs.services import Setting, open_services
from ..values.usage import Usage
from .account import key_of, seconds_left
from .approving import Approving
from .refusals import Refusal, bad_request, no_answer, stopping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from ...schema.team.task import Task
    from ..agents.outcomes import Run
    from ..plan.plan import Plan
    from ..record.trace import Event
    from ..runs.services import Services
    from ..scrubbing.scrubber import Scrubber
    from .account import Account, WorkSession
    from .admission import RequestQueue
    from .teams import ServedTeam, Teams

Listener: TypeAlias = "Callable[[Event], None]"
"""Takes each event of a run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedQuestion:
    """A client's question.

    Attributes:
        caller: The digest of the client's key; empty if no key is needed.
        key: The client's idempotency key; empty if it sent none.
        answer_seconds: How long an agent waits for the client to allow a call, or to reply for a
            `Person`.
        continues: The conversation that it continues, if that has an answer already.
        conversation: The conversation whose latest answer this becomes; empty: none.
    """

    team: ServedTeam
    task: Task
    caller: str = ""
    key: str = ""
    answer_seconds: float = 0
    continues: str = ""
    conversation: str = ""

    @property
    def record_key(self) -> str:
        """The key of its record in the account; empty if the client sent none."""
        return key_of(self.caller, self.key)

    @property
    def digest(self) -> str:
        """The digest of the question: the same key may not be used for another question."""
        # A message that is sent again to its own conversation is the same, whatever followed it.
        before = "" if self.continues == self.conversation else self.continues
        return digest(self.team.name, self.task.value(), self.task.attached, before)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedAnswer:
    """A team's answer.

    Attributes:
        content: The whole output of the output agent: the JSON text, if it answers by a schema.
        usage: The total cost of the record, earlier attempts included.
    """

    run: str
    text: str
    content: str
    usage: Usage

    @property
    def about(self) -> dict[str, Any]:
        """The record's name and the cost, for which no protocol has a field."""
        return {"run": self.run, "calls": self.usage.calls, "cost": self.usage.cost}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """A record with the inputs of its run."""

    record: RunRecord
    plan: Plan
    task: Task

    async def run(
        self,
        services: Services,
        scrub: Scrubber,
        session: WorkSession,
        listener: Listener | None,
    ) -> Run:
        """Run it, or resume it."""
        record = self.record
        await services.prepare(self.plan)
        if record.failed:
            await record.journal.renew()
        caps = services.setting.budget
        return await services.execute(
            self.plan,
            self.task,
            journal=record.journal,
            scrubber=scrub,
            trace=Trace(record.folder, *([listener] if listener else [])),
            budget=session.day.child(caps, "the request", spent=record.spent()),
            keep=record.keep,
        )


@dataclass(kw_only=True, eq=False)
class TeamServer:
    """Answers requests. `serving` opens one.

    Attributes:
        approving: Asks clients before tools are called.
    """

    teams: Teams
    services: Services
    account: Account
    admission: RequestQueue
    approving: Approving
    scrub: Scrubber
    is_stopping: bool = False
    _under_way: set[asyncio.Task[ServedAnswer]] = field(
        default_factory=set[asyncio.Task[ServedAnswer]]
    )
    _keys: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary[str, asyncio.Lock]
    )

    async def ask(self, question: ServedQuestion, listener: Listener | None = None) -> ServedAnswer:
        """Answer a question. Cancelling this cancels the run; its record stays.

        Raises:
            Refusal: There is no answer.
        """
        if self.is_stopping:
            raise stopping()
        work = asyncio.create_task(self._answer(question, listener))
        self._under_way.add(work)
        try:
            return await work
        finally:
            await _end(work)
            self._under_way.discard(work)

    async def stream(self, question: ServedQuestion) -> AsyncGenerator[Event | ServedAnswer]:
        """Answer a question: yield the events of the run as they happen, then the answer.

        Raises:
            Refusal: There is no answer.
        """
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(event: Event) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        work = asyncio.create_task(self.ask(question, put))
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield await work
        finally:
            await _end(work)

    async def stop(self, seconds: float) -> bool:
        """Refuse new requests, and wait for the running ones; return whether all of them ended.

        Those that do not end in time are cancelled. Their records can be resumed.
        """
        self.is_stopping = True
        left = {*self._under_way}
        if left:
            _, left = await asyncio.wait(left, timeout=seconds)
        for work in left:
            work.cancel()
        if left:
            await asyncio.wait(left)
        return not left

    async def _answer(self, question: ServedQuestion, listener: Listener | None) -> ServedAnswer:
        try:
            refuse_unread([question.team.plan], question.task, "the request")
            async with self._alone(question), self.admission.turn():
                return await self._recorded_or_run(question, listener)
        except asyncio.CancelledError:
            if self.is_stopping:
                raise stopping() from None
            raise
        except Refusal:
            raise
        except InputError as error:
            raise bad_request(self.scrub(str(error))) from None
        except CoterieError as error:
            raise Refusal(503, self.scrub(str(error)), code="server_error") from None

    def _alone(self, question: ServedQuestion) -> AbstractAsyncContextManager[None]:
        """Lock the record of a key during the body."""
        key = question.record_key
        return self._keys.setdefault(key, asyncio.Lock()) if key else nullcontext()

    async def _recorded_or_run(
        self, question: ServedQuestion, listener: Listener | None
    ) -> ServedAnswer:
        """Return the recorded answer of the request's key; else resume its record or begin one."""
        key = question.record_key
        recorded = self.account.record_of(key) if key else None
        if recorded is not None and recorded[1] != question.digest:
            raise Refusal(
                400,
                f"the Idempotency-Key {question.key!r} was already used for another request. Send"
                " a new key with a new request.",
                code="idempotency_key_reused",
            )
        folder = self.account.runs / recorded[0] if recorded else None
        if folder is None or not folder.is_dir():
            work = self._begin(question)
        elif (answer := _recorded_answer(folder, question)) is not None:
            await self._converse(question, answer, is_latest=False)
            return answer
        else:
            work = self._resume(folder)
        answer = await self._run(work, question, listener)
        await self._converse(question, answer, is_latest=True)
        return answer

    async def _converse(
        self, question: ServedQuestion, answer: ServedAnswer, *, is_latest: bool
    ) -> None:
        """Make an answer the latest of its conversation; a repeated request keeps its place."""
        name = key_of(question.caller, question.conversation)
        if name and (is_latest or self.account.conversation(name) is None):
            await self.account.answered(name, answer.run)

    def _begin(self, question: ServedQuestion) -> _Work:
        plan, task, files = question.team.plan, question.task, dict[str, str]()
        before = self.account.conversation(key_of(question.caller, question.continues))
        if before is not None:
            _, earlier, _ = load_recorded(before, self.teams.catalogue)
            task, files = continued_run(before, earlier, task)
        task = as_recorded(task, self.scrub.without_secrets)
        runs, setting = self.account.runs, self.services.setting
        record = RunRecord.begin(runs, plan, task, setting, scrub=self.scrub, files=files)
        return _Work(record=record, plan=plan, task=task)

    def _resume(self, folder: Path) -> _Work:
        team, task, catalogue = load_recorded(folder, self.teams.catalogue)
        plan = compile(team, catalogue)
        record = RunRecord(RunFolder(folder, self.scrub), plan)
        return _Work(record=record, plan=plan, task=task)

    async def _run(
        self, work: _Work, question: ServedQuestion, listener: Listener | None
    ) -> ServedAnswer:
        """Run a record; its cost counts for today from the first call on."""
        async with work.record as record:
            session = await self.account.begin(record, question.record_key, question.digest)
            try:
                with self.approving.during(session.run, question):
                    services = replace(self.services, recaller=question.team.recaller)
                    run = await work.run(services, self.scrub, session, listener)
            finally:
                await self.account.end(session, record)
            record.finish(run)
        if run.answer is None:
            raise self._refusal(run, session)
        output = run.agents.get(run.answered_by or work.plan.output)
        content = output.result.content if output and output.result else run.answer
        text, content = self.scrub(run.answer), self.scrub(content)
        return ServedAnswer(run=session.run, text=text, content=content, usage=record.spent())

    def _refusal(self, run: Run, session: WorkSession) -> Refusal:
        tomorrow = seconds_left() if session.day.reached else None
        refusal = no_answer(run, session.run, retry_after=tomorrow)
        return replace(refusal, message=self.scrub(refusal.message))


async def _end(work: asyncio.Task[ServedAnswer]) -> None:
    """Cancel a task and wait for its end, whatever its outcome."""
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


def _recorded_answer(folder: Path, question: ServedQuestion) -> ServedAnswer | None:
    """Return a record's answer; None unless it is done."""
    result = read_result(folder)
    if result is None or result["status"] != "done":
        return None
    output = result["agents"].get(question.team.plan.output, {})
    text, consumed = result["answer"], {**result["usage"]}
    del consumed["cost"]
    return ServedAnswer(
        run=folder.name,
        text=text,
        content=output.get("content") or text,
        usage=Usage(**consumed),
    )


@asynccontextmanager
async def serving(
    teams: Teams,
    account: Account,
    setting: Setting,
    admission: RequestQueue,
    secrets: Iterable[str] = (),
) -> AsyncGenerator[TeamServer]:
    """Open what requests need, and check that every team can be run; then serve during the body.

    Args:
        account: The account of requests, which is open.
        secrets: Further texts that may never be written: the clients' keys.
    """
    approving = Approving()
    async with open_services(
        teams.catalogue, setting, approver=approving, responder=approving.respond
    ) as services:
        for team in teams:
            await services.prepare(team.plan)
        server = TeamServer(
            teams=teams,
            services=services,
            account=account,
            admission=admission,
            approving=approving,
            scrub=services.scrubber(os.environ, also=secrets),
        )
        try:
            yield server
        finally:
            await server.stop(0)
