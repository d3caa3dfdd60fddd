"""The one layer that retries model calls."""

from __future__ import annotations

import asyncio
import email.utils
import itertools
import math
import time
from typing import TYPE_CHECKING

from .chat.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .chat.messages import ChatAnswer
    from .rate_limiter import Pacing

FIRST_WAIT = 0.5
"""The most seconds until the first retry; each further retry doubles them."""
LONGEST_WAIT = 60.0
"""The most seconds that a retry waits, by its number or by the endpoint's request."""


async def call_with_retries(
    call: Callable[[], Awaitable[ChatAnswer]],
    retries: int,
    on_retry: Callable[[CallError, float], None],
    pacing: Pacing,
    may_retry: Callable[[CallError], bool] = lambda error: error.may_pass,
) -> tuple[ChatAnswer, int]:
    """Make a call, and retry it while its failures may pass.

    Each retry waits at least as long as the endpoint asked, then with full jitter. So callers that
    were refused together do not return together.

    Returns:
        The answer and the number of attempts.

    Raises:
        CallError: The last failure, or the first that is not worth a retry.
    """
    for attempt in itertools.count(1):
        try:
            return await call(), attempt
        except CallError as error:
            if attempt > retries or not may_retry(error):
                raise
            spread = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
            wait = pacing.wait(spread, at_least=error.retry_after or 0.0)
            on_retry(error, wait)
        await asyncio.sleep(wait)
    raise AssertionError("counting has no end")


def retry_after(header: str | None) -> float | None:
    """Parse a Retry-After header: seconds, or a date.

    Returns:
        Seconds to wait, from 0 to `LONGEST_WAIT`. None if the header is invalid or its date is
        past.
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
