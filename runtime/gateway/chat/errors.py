"""Failures of model calls, in kinds that decide what happens next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ....schema.values.errors import ModelError
from ...values.bounds import LARGEST_ANSWER
from ...values.usage import Usage
from .provider_words import REFUSAL_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .messages import Message

Kind = Literal[
    "busy",  # the endpoint asks for patience: 408, 409, 425, 429
    "down",  # the endpoint fails or cannot be reached: 5xx, connection errors
    "timeout",  # no whole answer within the model's timeout
    "slow",  # no whole answer within the caller's shorter patience
    "malformed",  # an answer that violates the API
    "denied",  # wrong or missing key, or nothing left to pay with: 401, 402, 403
    "unknown",  # no such model or address: 404
    "overflow",  # the prompt is longer than the model's context: also 413
    "rejected",  # the request itself is at fault: other 4xx
]
MAY_PASS: frozenset[Kind] = frozenset({"busy", "down", "timeout", "malformed"})
ENDPOINT_IS_OUT: frozenset[Kind] = frozenset({"down", "timeout"})
REFUSALS: frozenset[Kind] = frozenset({"denied", "unknown"})
BAD_GATEWAY = 502
"""The status of an intermediary that could not reach the model, or lost the connection to it."""
GIVEN_UP_ON = frozenset({408, BAD_GATEWAY, 504, 524})
"""Statuses of intermediaries that stopped waiting: the model may still have answered."""


class CallError(ModelError):
    """A model call failed.

    Attributes:
        status: The HTTP status; None without a response.
        retry_after: Seconds that the endpoint asks to wait; None if it does not ask.
        words: The endpoint's full message, if it refused the request.
        may_be_billed: Whether the endpoint may have answered, and billed, although no answer
            arrived.
        has_ended: Whether the endpoint itself reported the failure: it wrote no more than arrived.
        again: Messages for the next try, which tell the model what it did wrong and how to act on
            it.
        usage: What the call and its retries may have consumed.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: Kind,
        status: int | None = None,
        retry_after: float | None = None,
        words: str = "",
        may_be_billed: bool = False,
        has_ended: bool = False,
        again: Sequence[Message] = (),
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        self.retry_after = retry_after
        self.words = words
        self.may_be_billed = may_be_billed
        self.has_ended = has_ended
        self.again = again
        self.usage = Usage()

    def after(self, earlier: Iterable[str] = ()) -> CallError:
        """Return the same failure with other models' earlier failures added to its message."""
        before = "; ".join(earlier)
        return CallError(
            f"{self} (Before it failed {before})" if before else str(self),
            kind=self.kind,
            status=self.status,
            retry_after=self.retry_after,
            words=self.words,
            may_be_billed=self.may_be_billed,
        )

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed a moment later."""
        return self.kind in MAY_PASS

    @property
    def is_outage(self) -> bool:
        """Whether the failure indicates a broken endpoint rather than a bad call."""
        return self.kind in ENDPOINT_IS_OUT

    @property
    def is_refusal(self) -> bool:
        """Whether the configuration is wrong: the key, payment or the model's name is refused."""
        return self.kind in REFUSALS

    @property
    def another_may_answer(self) -> bool:
        """Whether another model may answer the same request."""
        return self.kind != "rejected"


def malformed(source: str, problem: str) -> CallError:
    """Return the error of an answer that violates its API; it may have been billed."""
    return CallError(f"{source}: {problem}.", kind="malformed", may_be_billed=True)


def too_large(source: str) -> CallError:
    """Return the error of an answer that is larger than any honest one."""
    return malformed(source, f"an answer of more than {LARGEST_ANSWER >> 20} MiB")


def kind_of(status: int, message: str) -> Kind:
    """Return the kind of a failure from its HTTP status and the endpoint's message.

    Some endpoints answer 500 to a prompt that is too long.
    """
    meaning = meaning_of(message)
    if status in {401, 402, 403} or meaning == "unpaid":
        return "denied"
    if status in {408, 409, 425, 429}:
        return "busy"
    if status == 404:
        return "unknown"
    if status == 413 or meaning == "overflow":
        return "overflow"
    return "down" if status >= 500 else meaning or "rejected"


def meaning_of(message: str) -> Kind | Literal["unpaid", ""]:
    """Return the meaning of an endpoint's message in `REFUSAL_WORDS`; empty if unknown."""
    message = message.lower()
    for kind, signs in REFUSAL_WORDS.items():
        if any(sign in message for sign in signs):
            return kind
    return ""
