"""Makes calls in batches: collects them, submits them, and returns each answer to its call."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...schema.values.terminal import counted
from ..gateway import CallError
from ..gateway.http.http_client import HttpClient
from ..gateway.http.refusals import failed
from .batch_apis import batch_api

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence

    from ..gateway import ChatAnswer, Endpoint, Gateway
    from ..gateway.chat.body import Body
    from ..gateway.stream_sink import StreamSink
    from ..record.journal import Journal
    from .batch_apis import BatchApi, BatchState, Line

LINGER = 2.0
"""Seconds without a new request until the waiting ones are submitted."""
FIRST_WAIT, LONGEST_WAIT = 5.0, 60.0
"""Seconds between two polls of a batch: each wait is half as long again as the one before."""
FRAME = 200
"""The most bytes around a request in its batch."""
TRIES = 6
"""How often to submit a batch while it is unknown whether the provider accepted it."""
NOTED = ("number", "key", "calls", "since", "id", "is_void")


@dataclass(kw_only=True, eq=False)
class _Batch:
    """A batch, and the calls that wait for it here. The journal has the fields in `NOTED`.

    Attributes:
        number: Its number in the run, from 1; 0 while its requests are collected.
        since: When it was recorded, in seconds since the epoch.
        id: The provider's id; empty while unknown.
        is_void: Whether it was never accepted, or its results are gone.
    """

    number: int = 0
    key: str = field(default_factory=lambda: uuid4().hex)
    calls: Sequence[str] = ()
    since: float = 0.0
    id: str = ""
    is_void: bool = False
    api: BatchApi = field(init=False)
    requests: dict[str, bytes] = field(default_factory=dict[str, bytes])
    size: int = 0
    waiting: dict[str, asyncio.Future[ChatAnswer]] = field(default_factory=dict[str, Any])
    work: asyncio.Task[None] | None = None

    def fits(self, content: bytes) -> bool:
        """Return whether there is room for another request."""
        size = self.size + len(content)
        return len(self.requests) < self.api.most and size < self.api.largest

    def settle(self, call: str, outcome: ChatAnswer | BaseException) -> None:
        """Give a call its answer, or its own error."""
        answer = self.waiting.pop(call)
        if answer.done():
            return
        if isinstance(outcome, BaseException):
            own = outcome.after() if isinstance(outcome, CallError) else outcome
            answer.set_exception(own)
        else:
            answer.set_result(outcome)

    def fail(self, error: BaseException, calls: Iterable[str]) -> None:
        """Give calls an error."""
        for call in [*calls]:
            self.settle(call, error)


@asynccontextmanager
async def collecting(
    gateway: Gateway, journal: Journal, say: Callable[[str], None]
) -> AsyncGenerator[None]:
    """Make a gateway's calls in batches while the block lasts; see `BatchClient`."""
    gateway.batches = client = BatchClient(HttpClient(), journal, say)
    try:
        yield
    finally:
        gateway.batches = None
        await client.close()


class BatchClient:
    """Makes each call a request of a batch; see `Client`.

    A batch is recorded before it is submitted. So after any end of the process, the next one finds
    it, and an attempt of a call is never made in two batches.
    """

    def __init__(self, http: HttpClient, journal: Journal, say: Callable[[str], None]) -> None:
        self._http, self._journal, self._say = http, journal, say
        noted = [_Batch(**value) for value in journal.values("batch")]
        self._count = len(noted)
        self._collected: dict[tuple[Any, ...], _Batch] = {}
        self._batches = {
            call: batch for batch in noted for call in batch.calls if not batch.is_void
        }
        self._works: set[asyncio.Task[None]] = set()

    async def chat(self, endpoint: Endpoint, body: Body, sink: StreamSink, /) -> ChatAnswer:
        """Wait until a batch has the answer; see `Client.chat`."""
        answer = asyncio.get_running_loop().create_future()
        batch = self._batches.get(sink.call_id) or self._next(endpoint, body.content)
        batch.api = batch_api(self._http, endpoint)
        self._join(batch, sink.call_id, body.content, answer)
        return await answer

    async def close(self) -> None:
        """Stop waiting for batches; they remain at the provider, for another process."""
        for work in self._works:
            work.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)
        await self._http.close()

    def _next(self, endpoint: Endpoint, content: bytes) -> _Batch:
        """Return the batch that currently collects a model's requests."""
        model = (endpoint, *sorted(endpoint.headers.items()))
        batch = self._collected.get(model)
        if batch is None or batch.number or not batch.fits(content):
            batch = self._collected[model] = _Batch()
        batch.api = batch_api(self._http, endpoint)
        return batch

    def _join(
        self, batch: _Batch, call: str, content: bytes, answer: asyncio.Future[ChatAnswer]
    ) -> None:
        batch.requests[call], batch.waiting[call] = content, answer
        batch.size += len(content) + FRAME
        if batch.work is None or batch.work.done():
            batch.work = asyncio.create_task(self._work(batch))
            self._works.add(batch.work)
            batch.work.add_done_callback(lambda work: self._ended(work, batch))

    def _ended(self, work: asyncio.Task[None], batch: _Batch) -> None:
        self._works.discard(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            batch.fail(error, batch.waiting)

    async def _work(self, batch: _Batch) -> None:
        """Process a batch to its end, once no further call joins it."""
        count = 0
        while count < len(batch.waiting):
            count = len(batch.waiting)
            await asyncio.sleep(LINGER)
        for call in [call for call, answer in batch.waiting.items() if answer.done()]:
            del batch.waiting[call], batch.requests[call]  # no call waits for it any more
        if not batch.waiting:
            return
        if not batch.number:
            await self._submit(batch)
        elif not batch.id:
            batch.id = await self._submitted_id(batch)
            await self._note(batch, is_void=not batch.id)
        try:
            if not batch.is_void:
                await self._collect(batch)
        except CallError as error:
            if error.status != 404:  # providers keep results for a month
                raise
            await self._note(batch, is_void=True)
        if batch.is_void:
            waiting, batch.waiting = batch.waiting, {}
            for call, answer in waiting.items():
                content = batch.requests[call]
                self._join(self._next(batch.api.endpoint, content), call, content, answer)

    async def _note(self, batch: _Batch, *, is_void: bool = False) -> None:
        """Record a batch, on disk when this returns: submitting it is irreversible."""
        batch.is_void = is_void
        for call in batch.calls:
            self._batches[call] = batch
            if is_void:
                del self._batches[call]
        value = {name: getattr(batch, name) for name in NOTED}
        await self._journal.put(f"batches/{batch.key}", "batch", "", value)
        await self._journal.flush()

    async def _submit(self, batch: _Batch) -> None:
        """Submit a batch; if it may already be submitted, look for it first."""
        self._count += 1
        batch.number, batch.calls, batch.since = self._count, [*batch.requests], time.time()
        await self._note(batch)
        for attempt in range(1, TRIES + 1):
            try:
                if attempt > 1:
                    batch.id = await self._submitted_id(batch)
                with _as_promised():
                    batch.id = batch.id or await batch.api.submit(batch.key, batch.requests)
                break
            except CallError as error:
                if not error.may_pass:
                    await self._note(batch, is_void=True)
                if not error.may_pass or attempt == TRIES:
                    raise
                await asyncio.sleep(error.retry_after or FIRST_WAIT * 1.5**attempt)
        await self._note(batch)
        many, model = counted(len(batch.calls), "request"), batch.api.endpoint.model
        self._say(f"batch {batch.number}: {many} of {model} submitted as {batch.id}")

    async def _submitted_id(self, batch: _Batch) -> str:
        """Return the id of a batch that may have been submitted; empty if it was not."""
        ids = {batch.id for batch in self._batches.values()}
        with _as_promised():
            alike = await batch.api.submitted(batch.key, len(batch.calls), batch.since)
        for name in alike:
            if name not in ids and (batch.api.is_named or await self._holds(batch, name)):
                return name
        return ""

    async def _holds(self, batch: _Batch, name: str) -> bool:
        """Return whether a finished batch without our key contains our requests."""
        state = await self._until_over(batch, name)
        with _as_promised():
            async for call, _ in batch.api.lines(state.results):
                return call in batch.calls
        return False

    async def _collect(self, batch: _Batch) -> None:
        """Wait until a batch is over, and give its answers to the waiting calls."""
        state, where = await self._until_over(batch, batch.id), batch.api.endpoint.shown
        if state.failure is not None:
            raise failed(f"{where}: batch {batch.id}", state.failure, {})
        left_out = CallError(f"{where}: batch {batch.id} has no answer to it.", kind="timeout")
        while waiting := {*batch.waiting}:  # calls may join while results are read
            await self._patiently(batch, lambda: _hand_over(batch, state))
            batch.fail(left_out, waiting & batch.waiting.keys())

    async def _until_over(self, batch: _Batch, name: str) -> BatchState:
        answered, wait = -1, FIRST_WAIT
        while True:
            state = await self._patiently(batch, lambda: batch.api.state(name))
            if state.answered != answered:
                answered = state.answered
                self._say(f"batch {batch.number}: {answered} of {len(batch.calls)} answered")
            if state.is_over:
                return state
            await asyncio.sleep(wait)
            wait = min(LONGEST_WAIT, wait * 1.5)

    async def _patiently(self, batch: _Batch, work: Callable[[], Any]) -> Any:
        """Repeat a read-only request while its failures may pass."""
        for attempt in itertools.count(1):
            try:
                with _as_promised():
                    return await work()
            except CallError as error:
                if not error.may_pass or (error.kind == "malformed" and attempt == TRIES):
                    raise
                self._say(f"batch {batch.number}: {error} Asking again.")
                wait = min(LONGEST_WAIT, FIRST_WAIT * 1.5**attempt)
                await asyncio.sleep(max(wait, error.retry_after or 0.0))
        raise AssertionError("counting has no end")


async def _hand_over(batch: _Batch, state: BatchState) -> None:
    async for call, line in batch.api.lines(state.results):
        if call in batch.waiting:
            batch.settle(call, _outcome(batch.api, line))


def _outcome(api: BatchApi, line: Line) -> ChatAnswer | CallError:
    try:
        with _as_promised():
            return api.answer(line)
    except CallError as error:
        return error


@contextmanager
def _as_promised() -> Generator[None]:
    """Raise an error of the call if the provider's JSON lacks a field."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CallError(
            f"the batch API sent something else than it promises: {error!r}.", kind="malformed"
        ) from error
