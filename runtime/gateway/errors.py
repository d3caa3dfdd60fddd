"""Why a model call failed, in kinds that decide what happens next."""

from __future__ import annotations

from typing import Literal

from ...schema.errors import ModelError

__all__ = ["CallError", "Kind"]

Kind = Literal[
    "busy",  # the endpoint asks for patience: 408, 409, 425, 429
    "down",  # the endpoint fails or cannot be reached: 5xx, connection errors
    "timeout",  # no whole answer within the model's timeout
    "malformed",  # an answer that is not what the API promises
    "denied",  # wrong or missing key: 401, 403
    "unknown",  # no such model or address: 404
    "overflow",  # the prompt is longer than the model's context
    "rejected",  # the request itself is at fault: other 4xx
]
MAY_PASS: frozenset[Kind] = frozenset({"busy", "down", "timeout", "malformed"})


class CallError(ModelError):
    """A model call failed.

    Attributes:
        kind: What happened.
        status: The HTTP status, where there was one.
        retry_after: Seconds that the endpoint asks to wait, where it said so.
        parameter: The request's parameter that the endpoint does not support, where it said so.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: Kind,
        status: int | None = None,
        retry_after: float | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        self.retry_after = retry_after
        self.parameter = parameter

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed a moment later."""
        return self.kind in MAY_PASS
