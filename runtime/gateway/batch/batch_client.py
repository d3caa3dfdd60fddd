"""Makes calls in batches: collects them, submits them, and hands each answer to its call."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from ...values.terminal import counted
from ..chat.errors import CallError
from .batch_apis import BATCH_APIS, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from ..chat.body import Body
    from ..chat.messages import ChatAnswer
    from ..endpoint import Endpoint
    from ..http.http_client import HttpClient
    from ..stream_sink import StreamSink
    from .batch_apis import BatchApi, BatchState

LINGER = 2.0
"""Seconds without a further request after which those that wait are submitted."""
FIRST_WAIT, LONGEST_WAIT = 5.0, 60.0
"""Seconds between two looks at a batch: each wait is half as long again as the one before."""
TRIES = 6
"""Times that a batch is submitted while nobody knows whether it was taken."""


class BatchJournal(Protocol):
    """Where batches are noted: a run's journal."""

    async def put(self, path: str, kind: str, asked: str, value: Mapping[str, Any]) -> None:
        """Record something."""
        ...

    async def flush(self) -> None:
        """Wait until all that was recorded is on disk."""
        ...

    def values(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return all values of a kind."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Waiting:
    """A call that waits for its answer."""

    id: str
    content: bytes
    answer: asyncio.Future[ChatAnswer]

    def take(self, work: Callable[[], ChatAnswer]) -> None:
        """Give it what some work returns, or raises."""
        try:
            with _as_promised():
                answer = work()
        except CallError as error:
            self.fail(error)
        else:
            if not self.answer.done():
                self.answer.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Give it an error of its own."""
        if not self.answer.done():
            own = error.after() if isinstance(error, CallError) else error
            self.answer.set_exception(own)


@dataclass(kw_only=True, eq=False)
class _Batch:
    """A batch, as it is noted, and who waits for it here.

    Attributes:
        number: Which batch of the run it is, from 1.
        key: What we call it.
        calls: The ids of its requests.
        since: When it was noted, in seconds since the epoch.
        id: What the provider calls it; empty while nobody knows.
        is_void: Whether it was never taken.
        waiting: The calls that wait for it.
        work: Submits and collects it.
    """

    number: int
    key: str
    calls: Sequence[str]
    since: float
    id: str = ""
    is_void: bool = False
    waiting: dict[str, _Waiting] = field(default_factory=dict[str, _Waiting])
    work: asyncio.Task[None] | None = None

    def note(self) -> dict[str, Any]:
        """Return it as the journal has it."""
        names = ("number", "key", "calls", "since", "id", "is_void")
        return {name: getattr(self, name) for name in names}

    def fail(self, error: BaseException) -> None:
        """Fail all calls that wait."""
        while self.waiting:
            self.waiting.popitem()[1].fail(error)


@dataclass(kw_only=True, eq=False)
class _Group:
    """Calls of one model at one endpoint that are not submitted yet."""

    endpoint: Endpoint
    waiting: dict[str, _Waiting] = field(default_factory=dict[str, _Waiting])
    size: int = 0
    timer: asyncio.TimerHandle | None = None


class BatchClient:
    """Makes each call a request of a batch; see `Client`.

    Args:
        http: Makes the requests.
        journal: Where batches are noted, before they are submitted.
        say: Told how far they are.
    """

    def __init__(self, http: HttpClient, journal: BatchJournal, say: Callable[[str], None]) -> None:
        self._http = http
        self._journal = journal
        self._say = say
        noted = [_Batch(**value) for value in journal.values("batch")]
        self._count = len(noted)
        self._batches = {
            call: batch for batch in noted for call in batch.calls if not batch.is_void
        }
        self._groups: dict[tuple[Any, ...], _Group] = {}
        self._works: set[asyncio.Task[None]] = set()

    async def chat(self, endpoint: Endpoint, body: Body, hearing: StreamSink, /) -> ChatAnswer:
        """Wait until a batch has the answer; see `Client.chat`.

        Raises:
            CallError: No answer, or not one that the API promises.
        """
        answer = asyncio.get_running_loop().create_future()
        call = _Waiting(id=hearing.call_id, content=body.content, answer=answer)
        if (batch := self._batches.get(call.id)) is None:
            self._queue(endpoint, call)
        else:
            batch.waiting[call.id] = call
            self._begin(batch, endpoint)
        return await answer

    async def close(self) -> None:
        """Let go of batches; they stay where they are, for another process."""
        for group in self._groups.values():
            if group.timer is not None:
                group.timer.cancel()
        for work in self._works:
            work.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)
        await self._http.close()

    def _queue(self, endpoint: Endpoint, call: _Waiting) -> None:
        """Have a call wait for others; all are submitted when no further one comes."""
        key = (endpoint, *sorted(endpoint.headers.items()))
        group, api = self._groups.get(key), BATCH_APIS[endpoint.wire]
        if group and (
            len(group.waiting) == api.most or group.size + len(call.content) > api.largest
        ):
            self._submit_group(key)
        group = self._groups.setdefault(key, _Group(endpoint=endpoint))
        group.waiting[call.id] = call
        group.size += len(call.content) + 2 * len(call.id) + 100
        if group.timer is not None:
            group.timer.cancel()
        loop = asyncio.get_running_loop()
        group.timer = loop.call_later(LINGER, self._submit_group, key)

    def _submit_group(self, key: tuple[Any, ...]) -> None:
        group = self._groups.pop(key)
        if group.timer is not None:
            group.timer.cancel()
        waiting = {name: call for name, call in group.waiting.items() if not call.answer.done()}
        if not waiting:
            return
        self._count += 1
        batch = _Batch(
            number=self._count,
            key=uuid4().hex,
            calls=[*waiting],
            since=time.time(),
            waiting=waiting,
        )
        self._begin(batch, group.endpoint, is_new=True)

    def _begin(self, batch: _Batch, endpoint: Endpoint, *, is_new: bool = False) -> None:
        """Have a batch submitted and collected, unless it is."""
        if batch.work is None or batch.work.done():
            batch.work = asyncio.create_task(self._work(batch, endpoint, is_new=is_new))
            self._works.add(batch.work)
            batch.work.add_done_callback(lambda work: self._ended(work, batch))

    def _ended(self, work: asyncio.Task[None], batch: _Batch) -> None:
        self._works.discard(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            batch.fail(error)

    async def _work(self, batch: _Batch, endpoint: Endpoint, *, is_new: bool) -> None:
        if is_new:
            await self._note(batch)
            await self._submit(batch, endpoint)
            await self._collect(batch, endpoint)
            return
        await asyncio.sleep(LINGER)  # others of its calls come at the same time
        if not batch.id:
            batch.id = await self._found(batch, endpoint)
            await self._note(batch, is_void=not batch.id)
        try:
            if not batch.is_void:
                await self._collect(batch, endpoint)
        except CallError as error:
            if error.status != 404:  # providers keep results for a month
                raise
            await self._note(batch, is_void=True)
        if batch.is_void:
            self._ask_again(batch, endpoint)

    async def _note(self, batch: _Batch, *, is_void: bool = False) -> None:
        """Note a batch, on disk when this returns: what follows cannot be taken back."""
        batch.is_void = is_void
        await self._journal.put(f"batches/{batch.key}", "batch", "", batch.note())
        await self._journal.flush()

    async def _submit(self, batch: _Batch, endpoint: Endpoint) -> None:
        """Submit a batch; where nobody knows whether it was taken, look for it first."""
        api = BATCH_APIS[endpoint.wire]
        requests = {name: call.content for name, call in batch.waiting.items()}
        for attempt in range(1, TRIES + 1):
            try:
                if attempt > 1:
                    batch.id = await self._found(batch, endpoint)
                with _as_promised():
                    batch.id = batch.id or await api.submit(
                        self._http, endpoint, batch.key, requests
                    )
                break
            except CallError as error:
                if not error.may_pass:
                    await self._note(batch, is_void=True)
                if not error.may_pass or attempt == TRIES:
                    raise
                await asyncio.sleep(error.retry_after or FIRST_WAIT * 1.5**attempt)
        await self._note(batch)
        many = counted(len(requests), "request")
        self._say(f"batch {batch.number}: {many} of {endpoint.model} submitted as {batch.id}")

    async def _found(self, batch: _Batch, endpoint: Endpoint) -> str:
        """Return the id of a batch that may have been submitted; an empty one if it was not."""
        api, count = BATCH_APIS[endpoint.wire], len(batch.calls)
        known = {other.id for other in self._batches.values()}
        with _as_promised():
            alike = await api.submitted(self._http, endpoint, batch.key, count, batch.since)
        for name in alike:
            if name not in known and (api.is_named or await self._holds(batch, name, endpoint)):
                return name
        return ""

    async def _holds(self, batch: _Batch, name: str, endpoint: Endpoint) -> bool:
        """Return whether a batch that says nothing of itself has our requests, once it is over."""
        state = await self._until_over(batch, name, endpoint)
        with _as_promised():
            async for call, _ in lines_of(self._http, endpoint, state.results):
                return call in batch.calls
        return False

    def _ask_again(self, batch: _Batch, endpoint: Endpoint) -> None:
        """Have those who wait for a batch that was never taken wait for another one."""
        for call in batch.calls:
            self._batches.pop(call, None)
        waiting, batch.waiting = batch.waiting, {}
        for call in waiting.values():
            self._queue(endpoint, call)

    async def _collect(self, batch: _Batch, endpoint: Endpoint) -> None:
        """Wait until a batch is over, and hand its answers to those who wait."""
        self._batches.update(dict.fromkeys(batch.calls, batch))
        api = BATCH_APIS[endpoint.wire]
        state = await self._until_over(batch, batch.id, endpoint)
        if state.failure:
            raise CallError(
                f"{endpoint.shown}: batch {batch.id} was refused: {state.failure}.",
                kind="busy" if state.is_full else "rejected",
            )
        while waiting := {*batch.waiting}:  # some may come while results are read
            await self._patiently(lambda: self._hand_over(batch, endpoint, api, state), batch)
            for name in waiting & batch.waiting.keys():
                batch.waiting.pop(name).fail(_left_out(endpoint, batch))

    async def _hand_over(
        self, batch: _Batch, endpoint: Endpoint, api: BatchApi, state: BatchState
    ) -> None:
        with _as_promised():
            async for name, line in lines_of(self._http, endpoint, state.results):
                if (call := batch.waiting.pop(name, None)) is not None:
                    call.take(lambda line=line: api.answer(endpoint, line))

    async def _until_over(self, batch: _Batch, name: str, endpoint: Endpoint) -> BatchState:
        """Look at a batch again and again until it is over."""
        api, told, wait = BATCH_APIS[endpoint.wire], -1, FIRST_WAIT
        while True:
            state = await self._patiently(lambda: api.state(self._http, endpoint, name), batch)
            if state.answered != told:
                told = state.answered
                self._say(f"batch {batch.number}: {told} of {len(batch.calls)} answered")
            if state.is_over:
                return state
            await asyncio.sleep(wait)
            wait = min(LONGEST_WAIT, wait * 1.5)

    async def _patiently(self, work: Callable[[], Any], batch: _Batch) -> Any:
        """Do what changes nothing at the provider, again as long as its failures may pass."""
        wait = FIRST_WAIT
        for attempt in itertools.count(1):
            try:
                with _as_promised():
                    return await work()
            except CallError as error:
                if not error.may_pass or (error.kind == "malformed" and attempt == TRIES):
                    raise
                self._say(f"batch {batch.number}: {error} Asking again.")
                await asyncio.sleep(max(wait, error.retry_after or 0.0))
                wait = min(LONGEST_WAIT, wait * 1.5)
        raise AssertionError("counting has no end")


@contextmanager
def _as_promised() -> Generator[None]:
    """Raise what a provider's JSON lacks as an error of the call."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _broken(error) from error


def _broken(error: Exception) -> CallError:
    return CallError(
        f"the batch API sent something else than it promises: {error!r}.", kind="malformed"
    )


def _left_out(endpoint: Endpoint, batch: _Batch) -> CallError:
    return CallError(
        f"{endpoint.shown}: batch {batch.id} ended without an answer to this request.",
        kind="timeout",
    )
