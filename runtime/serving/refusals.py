"""Refusals: why a request is not answered, as HTTP and the OpenAI API write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import CoterieError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..agents.outcomes import Run

KINDS = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    503: "server_error",
}
"""The `type` of an error of the OpenAI API, by status; `invalid_request_error` for all others."""
QUOTA = "insufficient_quota"


@dataclass(eq=False)
class Refusal(CoterieError):
    """A request that is not answered.

    Attributes:
        message: The rule, the value, and what to do.
        retry_after: Seconds after which the same request may succeed.
    """

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    retry_after: int | None = None
    run: str | None = None

    def __str__(self) -> str:
        return self.message

    @property
    def value(self) -> dict[str, Any]:
        """The body of the response, as the OpenAI API writes it."""
        kind = QUOTA if self.code == QUOTA else KINDS.get(self.status, "invalid_request_error")
        error = {"message": self.message, "type": kind, "param": self.param, "code": self.code}
        return {"error": error}

    @property
    def headers(self) -> Mapping[str, str]:
        """The response's headers. Clients must not retry by themselves what cost something."""
        retry = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        login = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        once = {"x-should-retry": "false", "x-run": self.run} if self.run else {}
        return {**retry, **login, **once}


def bad_request(message: str, param: str | None = None) -> Refusal:
    """Return the refusal of a request that can never be answered."""
    return Refusal(400, message, code="invalid_request", param=param)


def stopping() -> Refusal:
    """Return the refusal of a server that is shutting down."""
    message = "the server is stopping. Send the request again soon."
    return Refusal(503, message, code="stopping", retry_after=5)


def no_answer(run: Run, name: str, *, retry_after: int | None) -> Refusal:
    """Return the refusal for a run without an answer.

    Args:
        retry_after: Seconds until the next day's budget, if this day's is spent.
    """
    why = run.error or f"the run is {run.status}"
    message = f"{why} (record: {name})"
    if run.over_budget:
        return Refusal(429, message, code=QUOTA, retry_after=retry_after, run=name)
    code = "team_stopped" if run.status == "stopped" else "team_failed"
    return Refusal(503, message, code=code, run=name)
