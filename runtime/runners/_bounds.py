"""Limits on the answers that agent libraries parse."""

from __future__ import annotations

from ...schema.values.errors import AgentError

FENCE = "```py"
LARGEST_ANSWER = 1_000_000
"""Characters."""
LONGEST_SEARCH = 50_000_000
"""The most characters of an answer that a library may search: a few tenths of a second."""


def check_answer(text: str) -> None:
    """Refuse an answer that smolagents would search for minutes, while the whole process waits.

    For every opened block of code, it searches all of the rest for the end of that block.

    Raises:
        AgentError: The answer is too large, or opens too many blocks for its size.
    """
    if len(text) > LARGEST_ANSWER:
        raise AgentError(
            f"its model answered {len(text)} characters; at most {LARGEST_ANSWER} are read."
        )
    opened = text.count(FENCE)
    if opened * len(text) > LONGEST_SEARCH:
        raise AgentError(
            f"its model opened {opened} blocks of code in an answer of {len(text)} characters; "
            "no honest answer does."
        )
