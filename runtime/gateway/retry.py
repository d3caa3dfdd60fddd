"""The one layer that tries a model call again."""

from __future__ import annotations

import asyncio
import email.utils
import math
import time
from typing import TYPE_CHECKING

import tenacity

from .errors import CallError

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    from .chat import ChatAnswer

__all__ = ["LONGEST_WAIT", "call_with_retries", "retry_after"]

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0


async def call_with_retries(
    call: Callable[[], Awaitable[ChatAnswer]],
    retries: int,
    on_retry: Callable[[CallError, float], None],
    jitter: random.Random,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> tuple[ChatAnswer, int]:
    """Make a call, and again while its failures may pass.

    Waits with full jitter, so that callers who were refused together do not come back together,
    and at least as long as the endpoint asked.

    Args:
        call: Makes one attempt.
        retries: Attempts after the first.
        on_retry: Told each failure that is retried and the seconds until then.
        jitter: Where the waits' randomness comes from.
        sleep: How to wait.

    Returns:
        The answer and the number of attempts.

    Raises:
        CallError: The last failure, or the first that cannot pass.
    """

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, CallError) else None
        backoff = jitter.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** (state.attempt_number - 1)))
        return min(LONGEST_WAIT, (asked or 0.0) + backoff)

    def told(state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, CallError):
            on_retry(error, state.upcoming_sleep)

    attempts = 0
    async for attempt in tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(retries + 1),
        retry=tenacity.retry_if_exception(_may_pass),
        wait=wait,
        before_sleep=told,
        sleep=sleep,
        reraise=True,
    ):
        with attempt:
            attempts = attempt.retry_state.attempt_number
            return await call(), attempts
    raise AssertionError("tenacity ends with a result or an exception")


def retry_after(header: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date. Nonsense counts as not said.

    Returns:
        Seconds to wait, from 0 to `LONGEST_WAIT`, or None.
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header)
    if math.isnan(seconds) or seconds < 0:
        return None
    return min(seconds, LONGEST_WAIT)


def _seconds_until(date: str) -> float:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, CallError) and error.may_pass
