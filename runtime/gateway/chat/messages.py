"""Requests to models and their answers, whatever the provider, with valid text only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from ....schema.values.codec import SKIPPED, stored
from ....schema.values.json_text import dumps
from ....schema.values.values import is_list
from ...values.bounds import MOST_TOOL_CALLS
from ...values.usage import NOTHING, Usage

if TYPE_CHECKING:
    from ....schema.host.models import Effort
    from ....schema.values.attachments import Attachment

__all__ = [
    "WORDLESS",
    "ChatAnswer",
    "ChatRequest",
    "Message",
    "ToolRequest",
    "Usage",
    "as_text",
    "bounded",
    "place_of",
    "sound",
    "text_of",
]

WORDLESS = "(no words)"
"""Stands in for an empty message, which endpoints refuse."""

LEFT_OUT = f"[Only the first {MOST_TOOL_CALLS} tool calls of an answer are done; it had more.]"
"""The note in a model's own answer where part of it was left out."""

Message = Mapping[str, Any]
"""A message in the form of OpenAI's chat API: `role`, `content`, and tool calls if present."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """One call of a model.

    Attributes:
        attachments: Non-text inputs that accompany the user's first message, by name.
        temperature: None for the endpoint's default.
        top_p: The share of the most likely tokens to sample from. None for the endpoint's default.
        effort: How long the model may think before it answers. None for the endpoint's default.
        seed: The seed, for endpoints that can reproduce answers.
        tools: Tool definitions in the form of OpenAI's chat API.
        tool_choice: `auto`, `required`, or a choice in the form of that API.
        schema: JSON Schema that the answer must follow; enforced if the endpoint can.
        retries: How often to retry a failure that may pass.
        patience: Seconds that an answer may take, if less than the model's own timeout. Waits for a
            slot and before a retry do not count. None for the model's own timeout.
        source: The source of the messages, for a simulated model that reads no text: an operator's
            `Question`. It is never sent, and does not affect a real model's answer.
    """

    model: str
    messages: Sequence[Message]
    attachments: Mapping[str, Attachment] = field(default_factory=dict[str, "Attachment"])
    max_tokens: int = 4096
    temperature: float | None = None
    top_p: float | None = None
    effort: Effort | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: Any = None
    schema: Mapping[str, Any] | None = None
    retries: int = 2
    patience: float | None = None
    source: object = field(default=None, repr=False, compare=False)


@stored()
class ToolRequest:
    """A tool call that the model requests.

    Attributes:
        id: The id to which the call's result refers.
        arguments: JSON text as the model wrote it.
        extra: Fields that the endpoint requires back with the call, such as Gemini's signature.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@stored()
class ChatAnswer:
    """A model's answer.

    Attributes:
        text: The text; empty if the model only called tools, or only thought.
        thinking: The thinking before the answer, never a part of it. Empty if the model did not
            think or its endpoint does not show it.
        kept: Fields that the endpoint requires back with this message within a tool loop, as fields
            of the assistant's message that has the tool calls.
        finish_reason: `stop`, `length`, `tool_calls`, or the endpoint's own word.
        usage: What the call consumed, including attempts without an answer.
        reported_usd: The cost in USD that the provider reports; None if it does not.
        model: The model that answered, as the endpoint reports it.
        fingerprint: The endpoint's description of itself, such as its version; may be empty.
        alias: The alias that answered: the requested one, or a fallback of it.
        seconds: From the first attempt to the answer.
        adapted: By parameter, the form that was sent because the endpoint refuses the requested
            one.
        attempts: Attempts of the alias that answered: 1, and one for each failure retried.
        refused: Why its tool calls are not executed, in words for the model. They are then removed
            from `tool_calls` and stand in the text as the model wrote them. Empty if they are
            valid.
    """

    text: str
    tool_calls: tuple[ToolRequest, ...] = ()
    thinking: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict[str, Any])
    finish_reason: str = "stop"
    usage: Usage = NOTHING
    reported_usd: Annotated[float | None, SKIPPED] = None
    model: str = ""
    fingerprint: str = ""
    alias: str = ""
    seconds: float = 0.0
    attempts: int = 1
    adapted: Mapping[str, str] = field(default_factory=dict[str, str])
    refused: Annotated[str, SKIPPED] = ""


def bounded(answer: ChatAnswer) -> ChatAnswer:
    """Return an answer with no more tool calls than are executed, and a note if any were dropped.

    The kept fields of a shortened answer describe all its calls, so they are dropped too.
    """
    if len(answer.tool_calls) <= MOST_TOOL_CALLS:
        return answer
    text = f"{answer.text}\n\n{LEFT_OUT}".strip()
    return replace(answer, text=text, tool_calls=answer.tool_calls[:MOST_TOOL_CALLS], kept={})


def text_of(content: Any) -> str:
    """Return the text of a content, which some endpoints send in parts."""
    if is_list(content):
        return "".join(text_of(part.get("text")) for part in content)
    return sound(as_text(content))


def as_text(value: Any) -> str:
    """Return a text unchanged, any other value as JSON, and None as an empty text."""
    return value if isinstance(value, str) else "" if value is None else dumps(value)


def sound(text: str) -> str:
    """Replace lone surrogates, which JSON can carry and UTF-8 cannot."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def place_of(index: Any) -> int | None:
    """Return an index, which some endpoints send as text; None if invalid."""
    if isinstance(index, str) and index.strip().isdecimal():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None
