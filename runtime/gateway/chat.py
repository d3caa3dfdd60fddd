"""What is asked of a model and what it answers, whatever its provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..usage import Usage

__all__ = ["ChatAnswer", "ChatRequest", "Message", "ToolCall", "Usage"]

Message = Mapping[str, Any]
"""A message as OpenAI's chat API has it: `role`, `content`, and tool calls where there are any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """One call of a model.

    Attributes:
        model: The alias.
        messages: The conversation so far.
        max_tokens: Most tokens to write.
        temperature: None for the endpoint's own.
        seed: For endpoints that can repeat themselves.
        stop: Texts at which writing ends.
        tools: Tool definitions as OpenAI's chat API has them.
        tool_choice: `auto`, `required`, or a choice as that API has it.
        schema: JSON Schema that the answer must follow, where the endpoint can be held to it.
        retries: How often a failure that may pass is tried again.
        patience: Seconds that an answer may take, where the model's own timeout allows more. Waits
            for a slot and before a retry do not count. None for the model's own timeout.
    """

    model: str
    messages: Sequence[Message]
    max_tokens: int = 4096
    temperature: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: Any = None
    schema: Mapping[str, Any] | None = None
    retries: int = 2
    patience: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool that the model wants called. `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatAnswer:
    """What a model answered.

    Attributes:
        text: The text, empty where the model only calls tools.
        tool_calls: The tools that it wants called.
        finish_reason: `stop`, `length`, `tool_calls`, or the endpoint's own word.
        usage: What the call consumed, attempts without an answer included.
        model: The model that the endpoint says answered.
        fingerprint: What the endpoint says of itself, such as its version; empty where it does not.
        alias: The alias that answered: the one that was asked, or a fallback of it.
        seconds: From the first attempt to the answer.
        attempts: Attempts of the alias that answered: 1, and one for each failure retried.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    fingerprint: str = ""
    alias: str = ""
    seconds: float = 0.0
    attempts: int = 1
