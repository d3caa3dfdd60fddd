"""Calls of one model: attempts, the cost of each, and its time limit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol, TypeAlias
from uuid import uuid4

from ..values.bounds import LARGEST_PROMPT
from ..values.usage import NOTHING, BatchedAttempt, Usage
from .chat.ending import failure_of
from .chat.errors import BAD_GATEWAY, CallError
from .chat.fallback import ParameterChange, refused_form
from .chat.given_back import marked, meant_for
from .chat.messages import bounded
from .http.apis import answers_elsewhere, refused_api, spoken_now
from .metering import (
    bytes_in,
    characters_in,
    metered,
    tokens_in,
    unreached,
    upper_bound,
    written_by,
)
from .prices import context_of
from .retry import call_with_retries
from .stream_sink import StreamSink, Tell, most_pieces
from .waiting import Waiting
from .wires import WIRES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from ...schema.host.models import Model
    from ..values.budget import Budget, Reservation
    from .chat.body import Body
    from .chat.messages import ChatAnswer, ChatRequest
    from .endpoint import Endpoint
    from .prices import TokenPrices
    from .rate_limiter import RateLimiter

SMALLEST_CONTEXT = 100_000
"""Prompts up to this many tokens need no lookup of the model's context length."""


class Settle(Protocol):
    """Records an attempt's actual cost in place of its highest; called once."""

    def __call__(self, usage: Usage, /, *, lost: bool) -> None:
        """Record the cost.

        Args:
            usage: The actual usage, or the highest possible one.
            lost: Whether we broke off the attempt, rather than its endpoint.
        """
        ...


OpenAccount: TypeAlias = "Callable[[Usage, BatchedAttempt | None], Awaitable[Settle]]"
"""Records the highest cost of an attempt, and returns the function that settles it."""


def unrecorded(key: str) -> BatchedAttempt:
    """Return a batched attempt that no other process can collect."""
    return BatchedAttempt(id=uuid4().hex, number="", key=key)


async def no_account(_most: Usage, _attempt: BatchedAttempt | None = None) -> Settle:
    """Record nothing."""

    def settle(_usage: Usage, /, *, lost: bool) -> None:
        del lost

    return settle


class Client(Protocol):
    """Makes single requests to an endpoint.

    * Must stop and release its connection as soon as it is cancelled: the caller bounds the time.
    """

    async def chat(self, endpoint: Endpoint, body: Body, sink: StreamSink, /) -> ChatAnswer:
        """Make one request.

        Raises:
            CallError: No answer, or an answer that violates the API.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingCall:
    """A request with its limits and callbacks; see `Gateway.chat`.

    Attributes:
        patient: Whether to wait for an unavailable model; False if another model can answer.
    """

    request: ChatRequest
    budget: Budget
    on_retry: Callable[[CallError, float], None]
    on_adapted: Callable[[ParameterChange], None]
    patient: bool = True
    on_words: Callable[[str], None]
    open_account: OpenAccount
    tell: Tell
    folder: Path | None
    batched_attempt: Callable[[str], BatchedAttempt]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelClient:
    """An alias, with everything needed to call its model.

    Attributes:
        limiter: Decides when calls may be sent; shared with other aliases of the same model.
        rates: The model's prices; None if unknown.
        is_batched: Whether its calls wait in batches, without a limit on concurrent calls.
        longest: The most tokens that it wrote beyond a request's limit, else 0.
    """

    model: Model
    endpoint: Endpoint
    limiter: RateLimiter
    rates: TokenPrices | None
    is_declared: bool = False
    is_batched: bool = False
    refused: set[str] = field(default_factory=set[str])
    longest: list[int] = field(default_factory=lambda: [0])

    def hands_over(self, error: CallError) -> bool:
        """Return whether a fallback should answer after a failure."""
        if error.is_refusal:
            return self.model.fallback_on_refusal
        return error.another_may_answer

    async def chat(
        self, call: PendingCall, client: Client, endpoint: Endpoint
    ) -> tuple[ChatAnswer, int]:
        """Call the model, and retry while failures may pass and retries are left.

        Returns:
            The answer and the number of attempts.

        Raises:
            CallError: No usable answer.
            BudgetReached: The budget allows no further attempt.
        """
        if (size := characters_in(call.request.messages)) > LARGEST_PROMPT:
            raise CallError(
                f"{endpoint.shown}: the prompt was not sent: it has {size:,} characters, more than"
                f" the limit of {LARGEST_PROMPT:,}.",
                kind="overflow",
            )

        this = call

        async def attempt() -> ChatAnswer:
            nonlocal this
            adapted = partial(self._adapted, this, client, endpoint)
            try:
                if self.is_batched:
                    return await adapted()
                return await self.limiter.let_out(adapted, patient=call.patient)
            except CallError as error:
                messages = [*call.request.messages, *error.again]
                this = replace(call, request=replace(call.request, messages=messages))
                raise

        def may_retry(error: CallError) -> bool:
            return error.may_pass and (call.patient or not self.limiter.breaker.is_open)

        return await call_with_retries(
            attempt, call.request.retries, call.on_retry, self.limiter.pacing, may_retry
        )

    async def _adapted(self, call: PendingCall, client: Client, endpoint: Endpoint) -> ChatAnswer:
        """Make an attempt; repeat it in another form if the model refuses a parameter."""
        shown = meant_for(call.request.messages, endpoint.model)
        if call.request.attachments:
            from .chat.inputs import with_attachments

            shown = with_attachments(shown, call.request.attachments)
        if shown != [*call.request.messages]:
            call = replace(call, request=replace(call.request, messages=shown))
        again: set[str] = set()
        while True:
            here = spoken_now(endpoint, self.refused)
            body = WIRES[here.wire].body(here, call.request, self.refused)
            self._tell_unknown(call, body)
            try:
                ask = self._unpaid if here.kind == "inbox" else self._paid
                answer = await ask(call, client, here, body)
            except CallError as error:
                if wire := answers_elsewhere(error, here, endpoint, self.refused):
                    self._move(error, call, here.wire, wire)
                elif changed := self._learn(error, call, here, body, again):
                    again |= changed
                else:
                    raise
            else:
                if adapted := body.adapted:
                    answer = replace(answer, adapted=adapted)
                return marked(answer, endpoint.model)

    def _move(self, error: CallError, call: PendingCall, wire: str, target: str) -> None:
        """Use another API from now on, and report the change once."""
        if refused_api(wire) not in self.refused:
            self.refused.add(refused_api(wire))
            self._tell(call, "api", wire, target, str(error))

    def _learn(
        self,
        error: CallError,
        call: PendingCall,
        endpoint: Endpoint,
        body: Body,
        again: AbstractSet[str],
    ) -> set[str]:
        """Remember the refused forms, and report them once.

        Returns:
            The parameters that take another form from now on; empty if none was refused that can.
        """
        from .chat.parameters import refused_by  # many patterns, which few calls need

        refused = refused_by(error, body, again)
        forms = WIRES[endpoint.wire].body(endpoint, call.request, self.refused | refused).forms
        changes = {name: form for name, form in forms.items() if form.name != body.forms[name].name}
        if not refused or not changes:
            return set()
        if not refused <= self.refused:
            self.refused.update(refused)
            for parameter, form in changes.items():
                self._tell(call, parameter, body.forms[parameter].name, form.name, str(error))
        return {*changes}

    def _tell_unknown(self, call: PendingCall, body: Body) -> None:
        """Report once each requested form that the API does not have."""
        for parameter, form in body.forms.items():
            wanted = body.ladders[parameter][0]
            refused = refused_form(parameter, wanted)
            if not wanted.is_known and refused not in self.refused:
                self.refused.add(refused)
                self._tell(call, parameter, wanted.name, form.name, "The API does not support it.")

    def _tell(
        self, call: PendingCall, parameter: str, wanted: str, instead: str, words: str
    ) -> None:
        change = ParameterChange(
            alias=self.model.alias,
            parameter=parameter,
            asked=wanted,
            instead=instead,
            words=words,
        )
        call.on_adapted(change)

    async def _paid(
        self, call: PendingCall, client: Client, endpoint: Endpoint, body: Body
    ) -> ChatAnswer:
        """Make a request: reserve its highest cost, then settle its actual cost."""
        prompt = self._read(call, body)
        completion = max(call.request.max_tokens, self.longest[0])
        reservation, attempt = await self._reserved(call, body, prompt, completion)
        sink = StreamSink(
            on_words=call.on_words,
            most_pieces=most_pieces(call.request.max_tokens),
            call_id=attempt.id if attempt else "",
        )
        read = bytes_in(call.request.messages)
        try:
            # Written before the request is sent: a process killed from now on may have paid.
            account = await call.open_account(reservation.most, attempt)
        except BaseException:
            reservation.release()
            raise

        def settle(usage: Usage, *, lost: bool = False) -> None:
            reservation.settle(usage)
            account(usage, lost=lost)

        try:
            answer = await self._in_time(client, endpoint, body, call.request.patience, sink)
        except CallError as error:
            settle(self._spent(error, reservation, sink, read))
            raise
        except BaseException:
            # Cut off by a limit or a signal: the endpoint may bill an answer that is lost.
            settle(upper_bound(reservation, sink, self.rates, read=read), lost=True)
            raise
        finally:
            sink.received = None  # breaks a reference cycle, so that both are freed at once
        failure = failure_of(answer, endpoint.shown)
        if failure and not (written_by(answer) or answer.usage.tokens):
            settle(NOTHING)
            raise failure
        usage = metered(answer, prompt, self.rates, read=read, declared=self.is_declared)
        if usage.completion_tokens > completion:  # The endpoint ignores the limit.
            self.longest[0] = usage.completion_tokens
        settle(usage)
        if failure:
            raise failure
        return bounded(answer)

    async def _reserved(
        self, call: PendingCall, body: Body, prompt: int, completion: int
    ) -> tuple[Reservation, BatchedAttempt | None]:
        """Reserve a request's highest cost; return also its batched attempt, if it has one."""
        usd = self.rates.highest(prompt, completion) if self.rates else None
        tokens = prompt + completion
        attempt = None
        if self.is_batched:
            attempt = call.batched_attempt(sha256(body.content).hexdigest())
            if (left := attempt.deposited) is not None:
                return call.budget.reopen(left, tokens, usd, prompt), attempt
        return await call.budget.reserve(tokens=tokens, usd=usd, prompt_tokens=prompt), attempt

    async def _unpaid(
        self, call: PendingCall, client: Client, endpoint: Endpoint, body: Body
    ) -> ChatAnswer:
        """Ask an inbox, which is free and has no timeout: the answer counts as one call."""
        reservation = await call.budget.reserve(tokens=0, usd=0.0)
        sink = StreamSink(tell=call.tell, folder=call.folder)
        try:
            answer = await self._in_time(client, endpoint, body, None, sink)
            account = await call.open_account(answer.usage, None)
        except BaseException:
            reservation.release()
            raise
        reservation.settle(answer.usage)
        account(answer.usage, lost=False)
        return bounded(answer)

    def _spent(
        self, error: CallError, reservation: Reservation, sink: StreamSink, read: int
    ) -> Usage:
        """Return the highest possible usage of a failed call."""
        if not error.may_be_billed:
            return NOTHING
        if error.status == BAD_GATEWAY and not error.has_ended:
            return unreached(reservation)
        return upper_bound(reservation, sink, self.rates, read=read, has_ended=error.has_ended)

    async def _in_time(
        self,
        client: Client,
        endpoint: Endpoint,
        body: Body,
        patience: float | None,
        sink: StreamSink,
    ) -> ChatAnswer:
        """Make a request within the endpoint's timeout and the caller's patience.

        A batch has its own deadline, and its callers wait that long.
        """
        if self.is_batched:
            return await client.chat(endpoint, body, sink)
        waiting = Waiting(limit=self.model.timeout, patience=patience, source=endpoint.shown)
        async with waiting:
            sink.on_bytes = waiting.go_on
            return await client.chat(endpoint, body, sink)
        raise AssertionError("a request is answered, or fails")

    def _read(self, call: PendingCall, body: Body) -> int:
        """Estimate the most prompt tokens that a request can be billed for.

        No model reads beyond its context length. If that is unknown, the whole request counts.
        """
        tokens = tokens_in(len(body.content))
        if attachments := call.request.attachments.values():
            from .chat.inputs import encoded_bytes, most_tokens

            text = len(body.content) - encoded_bytes(attachments)
            tokens = tokens_in(text) + most_tokens(attachments, self.model.model)
        context = context_of(self.model) if tokens > SMALLEST_CONTEXT else None
        return min(tokens, context or tokens)
