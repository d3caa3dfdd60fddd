"""What is asked of a model and what it answers, whatever its provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["ChatAnswer", "ChatRequest", "Message", "ToolCall", "Usage"]

Message = Mapping[str, Any]
"""A message as OpenAI's chat API has it: `role`, `content`, and tool calls where there are any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What calls consumed. Usages add up.

    Attributes:
        calls: Model calls that were answered.
        prompt_tokens: Tokens read, cached ones included.
        cached_tokens: Those of them that came from the provider's prompt cache.
        completion_tokens: Tokens written.
        usd: Price of the calls whose price is known, in USD.
        unpriced_calls: Calls whose price is unknown. Their cost is missing in `usd`, not zero.
        unmetered_calls: Calls whose endpoint told no usage; their tokens are our estimate.
    """

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced_calls: int = 0
    unmetered_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=self.usd + other.usd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
            unmetered_calls=self.unmetered_calls + other.unmetered_calls,
        )

    def value(self) -> dict[str, float]:
        """Give the counts as plain values, for the trace; `asdict` would copy each of them."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> str:
        """The price for people: `$0.0123`, `$0.0123 + 2 unpriced calls`, `unpriced`, `free`."""
        if self.unpriced_calls and self.unpriced_calls == self.calls:
            return "unpriced"
        known = f"${self.usd:.4f}" if self.usd else "free"
        return known + (f" + {self.unpriced_calls} unpriced calls" if self.unpriced_calls else "")


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
        usage: What the call consumed.
        model: The model that the endpoint says answered.
        seconds: From the first attempt to the answer.
        attempts: 1, and one for each failure that was retried.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = Usage()
    model: str = ""
    seconds: float = 0.0
    attempts: int = 1
