"""Limits on the size of foreign input: from models, providers and tools.

Processing time grows with size, so size is limited at the entrance: no answer can cost minutes or
gigabytes. A note replaces what is left out, and the trace has it. `docs/security.md` lists the
bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = [
    "LARGEST_ANSWER",
    "LARGEST_MESSAGE",
    "LARGEST_PROMPT",
    "LARGEST_RESULT",
    "LARGEST_STREAM",
    "LARGEST_WORK",
    "LONGEST_CONTENT",
    "LONGEST_EVENT",
    "LONGEST_REPORTS",
    "LONGEST_STRUCTURED",
    "MOST_EVENTS",
    "MOST_LINES",
    "MOST_STEPS",
    "MOST_TOOL_CALLS",
    "MOST_VALUES",
    "MOST_VALUES_OF_TOOL",
    "apart",
    "without_middle",
]

LARGEST_ANSWER = 2 << 20
"""Bytes of one answer of a provider, many times what a model writes: a larger one is rejected."""
LARGEST_STREAM = 32 * LARGEST_ANSWER
"""Bytes of the events of one answer, each of which may carry a single token."""
MOST_EVENTS = 250_000
"""Events of one answer: more than the tokens that any model writes."""
MOST_LINES = 4 * MOST_EVENTS
"""Lines of the events of one answer: names, data, comments, and the empty ones in between."""
MOST_TOOL_CALLS = 64
"""Calls of one answer to execute; the model learns that the others were dropped."""
LARGEST_RESULT = 100_000
"""Characters of a tool's result that an agent sees."""
LARGEST_MESSAGE = 8 << 20
"""Bytes of one message of a tool server: after a larger one its session ends."""
MOST_VALUES_OF_TOOL = 50_000
"""Values of a tool's result: more are an error, which the agent reads."""
LARGEST_WORK = 64 << 20
"""Characters that all tools and all code return in one attempt of an agent: further ones fail."""
LARGEST_PROMPT = 8 << 20
"""Characters of the messages of one call, more than any model reads: a longer one is not sent."""
LONGEST_CONTENT = 512 << 10
"""Characters of one agent's result: a longer one loses its middle, except its patch."""
LONGEST_REPORTS = 1 << 20
"""Characters of all reports that one agent reads, and of all messages to it: the longest lose their
middle, all to one length."""
LONGEST_STRUCTURED = 256 << 10
"""Characters of an answer to parse as JSON."""
MOST_VALUES = 5_000
"""Values of an answer to check against a schema."""
MOST_STEPS = 50_000
"""Keywords of a schema to check the values of an answer against."""
LONGEST_EVENT = 100_000
"""Characters that the event of a call contains of each: the prompt, the answer and the thinking.
The longest texts lose their middle. The journal has all of it."""

AT_ONCE = 64 << 10
"""Characters to process without leaving the event loop: a few milliseconds."""

T = TypeVar("T")


async def apart(size: int, work: Callable[[], T]) -> T:
    """Do work in a thread if its text is long, else at once.

    Args:
        size: The text's size, in characters or bytes.
        work: The work. It shares nothing with concurrent code.
    """
    if size <= AT_ONCE:
        return work()
    # Imported late: commands that only check a team need this module but no event loop.
    from asyncio import to_thread

    return await to_thread(work)


def without_middle(text: str, longest: int) -> str:
    """Return a text; if it has more than `longest` characters, only its two ends."""
    left_out = len(text) - longest
    if left_out <= 0:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
