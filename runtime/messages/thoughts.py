"""Answers that are thinking alone: nothing of them is an answer, and whoever wrote them is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..gateway import ChatAnswer

ONLY_THINKING = "it is thinking only. Think less, and write the answer after it."
"""What a model is told that thought and did not answer."""


def only_thinks(answer: ChatAnswer) -> bool:
    """Return whether a model thought, and neither said anything after it nor called a tool."""
    return bool(answer.thinking and not answer.text.strip() and not answer.tool_calls)


def why_only_thinking(answer: ChatAnswer, max_tokens: int) -> str:
    """Return why an answer is thinking only, and what to write in the team file; else nothing.

    Args:
        max_tokens: How many tokens it might write.
    """
    if not only_thinks(answer):
        return ""
    if answer.finish_reason == "length":
        return (
            f"the model's thinking took all of its max_tokens ({max_tokens}), and left none for an"
            " answer. Write a larger max_tokens."
        )
    return f"the model only thought and did not answer (finish reason {answer.finish_reason!r})."
