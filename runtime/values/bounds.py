"""How much is taken of what others wrote: models, providers, tools.

Work on it grows as it does, and it is bounded where it comes in, so that no answer costs minutes or
gigabytes. What is left out is said in its place, and the trace has it. `docs/security.md` lists the
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
"""Bytes of one answer of a provider, many times what a model writes: a larger one is none."""
LARGEST_STREAM = 32 * LARGEST_ANSWER
"""Bytes of the events of one answer, of which each may say a single token."""
MOST_EVENTS = 250_000
"""Events of one answer: more than any model writes tokens."""
MOST_LINES = 4 * MOST_EVENTS
"""Lines of the events of one answer: names, data, comments, and the empty ones in between."""
MOST_TOOL_CALLS = 64
"""Calls of one answer that are done; the model is told of the others."""
LARGEST_RESULT = 100_000
"""Characters of a tool's result that an agent gets to see."""
LARGEST_MESSAGE = 8 << 20
"""Bytes of one message of a tool server: after a larger one its session ends."""
MOST_VALUES_OF_TOOL = 50_000
"""Values of a tool's result: one that has more is an error, which the agent reads."""
LARGEST_WORK = 64 << 20
"""Characters that all tools and all code give in one attempt of an agent: further ones fail."""
LARGEST_PROMPT = 8 << 20
"""Characters of the messages of one call, more than any model reads: it is not sent."""
LONGEST_CONTENT = 512 << 10
"""Characters of the result of one agent: beyond that it loses its middle, but for its patch."""
LONGEST_REPORTS = 1 << 20
"""Characters of all reports that one agent reads, and of all letters: the longest lose their
middle, all to one length."""
LONGEST_STRUCTURED = 256 << 10
"""Characters of an answer that is read as JSON."""
MOST_VALUES = 5_000
"""Values of an answer that are checked against a schema."""
MOST_STEPS = 50_000
"""Keywords of a schema that the values of an answer are held against."""
LONGEST_EVENT = 100_000
"""Characters of what a model read, of what it wrote and of what it thought, each, that an event
of a call says: the longest texts lose their middle. The journal has all of it."""

AT_ONCE = 64 << 10
"""Characters that are worked on without leaving the event loop: a few milliseconds."""

T = TypeVar("T")


async def apart(size: int, work: Callable[[], T]) -> T:
    """Do work beside the event loop where the text that it is about is long, else at once.

    Args:
        size: Of the text, in characters or bytes.
        work: The work. It shares nothing with what goes on meanwhile.
    """
    if size <= AT_ONCE:
        return work()
    # The commands that only check a team read this module too, and have no event loop.
    from asyncio import to_thread

    return await to_thread(work)


def without_middle(text: str, longest: int) -> str:
    """Return a text; of one with more than `longest` characters, only its two ends."""
    left_out = len(text) - longest
    if left_out <= 0:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
