"""Answers that consist of thinking only: they are no answers, and the model is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..gateway import ChatAnswer

ONLY_THINKING = "it is thinking only. Think less, and write the answer after it."
"""The message to a model that thought and did not answer."""


def only_thinks(answer: ChatAnswer) -> bool:
    """Return whether a model thought, but neither wrote an answer nor called a tool."""
    return bool(answer.thinking and not answer.text.strip() and not answer.tool_calls)


def why_only_thinking(answer: ChatAnswer, max_tokens: int) -> str:
    """Return why an answer is thinking only, and what to write in the team file; else "".

    Args:
        max_tokens: The limit on its tokens.
    """
    if not only_thinks(answer):
        return ""
    if answer.finish_reason == "length":
        return (
            f"the model's thinking took all of its max_tokens ({max_tokens}), and left none for an"
            " answer. Write a larger max_tokens."
        )
    return f"the model only thought and did not answer (finish reason {answer.finish_reason!r})."
