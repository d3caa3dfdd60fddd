"""Why a model call failed, in kinds that decide what happens next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ....schema.values.errors import ModelError
from ...values.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["GIVEN_UP_ON", "REFUSALS", "CallError", "Kind", "kind_of"]

Kind = Literal[
    "busy",  # the endpoint asks for patience: 408, 409, 425, 429
    "down",  # the endpoint fails or cannot be reached: 5xx, connection errors
    "timeout",  # no whole answer within the model's timeout
    "slow",  # no whole answer within the patience of who asked, which is less
    "malformed",  # an answer that is not what the API promises
    "denied",  # wrong or missing key, or nothing left to pay with: 401, 402, 403
    "unknown",  # no such model or address: 404
    "overflow",  # the prompt is longer than the model's context
    "rejected",  # the request itself is at fault: other 4xx
]
MAY_PASS: frozenset[Kind] = frozenset({"busy", "down", "timeout", "malformed"})
ENDPOINT_IS_OUT: frozenset[Kind] = frozenset({"down", "timeout"})
REFUSALS: frozenset[Kind] = frozenset({"denied", "unknown"})
GIVEN_UP_ON = frozenset({408, 502, 504, 524})
"""Statuses of those who stand between: the model may have answered them, too late."""
PAYMENT_SIGNS = ("insufficient_quota", "insufficient balance", "credit balance is too low")
"""How OpenAI (429), DeepSeek (402) and Anthropic (400) say that no money is left."""
OVERFLOW_SIGNS = (
    "context_length",
    "context length",
    "exceed_context",
    "exceed context",
    "maximum context",
    "prompt is too long",
    "maximum prompt length",
    "exceeds the maximum number of tokens",
    "exceeds the context window",
    "`max_new_tokens` must be",
)
"""The last four are of xAI (github.com/chenyme/grok2api/issues/693), Gemini
(github.com/google-gemini/gemini-cli/issues/9775), OpenAI (github.com/openai/codex/issues/20866) and
Together (github.com/BerriAI/litellm/issues/4934).
"""
KEY_SIGNS = ("incorrect api key", "api key not valid", "invalid api key")
"""How xAI (github.com/continuedev/continue/issues/10778) and Gemini (…/10290) say with 400 that a
key is wrong.
"""
MODEL_SIGNS = ("model not exist", "invalid model", "not a valid model id", "model_not_available")
"""How DeepSeek (github.com/ruixingshi/deepseek-thinker-mcp/issues/3), Mistral, OpenRouter
(github.com/maxnowack/anthropic-proxy/issues/4) and Together (github.com/HeyPuter/puter/issues/3168)
say with 400 that there is no such model.
"""


class CallError(ModelError):
    """A model call failed.

    Attributes:
        kind: What happened.
        status: The HTTP status, where there was one.
        retry_after: Seconds that the endpoint asks to wait, where it said so.
        words: All that the endpoint said, where it refused a request.
        may_be_billed: Whether the endpoint may have answered, and billed, although no answer came.
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
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        self.retry_after = retry_after
        self.words = words
        self.may_be_billed = may_be_billed
        self.usage = Usage()

    def after(self, earlier: Iterable[str]) -> CallError:
        """Give the same failure, with the failures of other models before it in its message."""
        return CallError(
            f"{self} (Before it failed {'; '.join(earlier)})",
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
        """Whether it speaks against the endpoint as such, not against this call."""
        return self.kind in ENDPOINT_IS_OUT

    @property
    def is_refusal(self) -> bool:
        """Whether key, payment or the model's name is refused: the configuration is wrong."""
        return self.kind in REFUSALS

    @property
    def another_may_answer(self) -> bool:
        """Whether another model may answer the same request."""
        return self.kind != "rejected"


def kind_of(status: int, said: str) -> Kind:
    """Tell what happened by an HTTP status, and by the endpoint's own words."""
    if status in {401, 402, 403} or any(sign in said.lower() for sign in PAYMENT_SIGNS):
        return "denied"
    if status in {408, 409, 425, 429}:
        return "busy"
    if status == 404:
        return "unknown"
    if status >= 500:
        return "down"
    return _kind_of_words(said.lower())


def _kind_of_words(said: str) -> Kind:
    """Tell what happened where the status is that of any bad request."""
    signs: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("overflow", OVERFLOW_SIGNS),
        ("denied", KEY_SIGNS),
        ("unknown", MODEL_SIGNS),
    )
    for kind, known in signs:
        if any(sign in said for sign in known):
            return kind
    return "rejected"
