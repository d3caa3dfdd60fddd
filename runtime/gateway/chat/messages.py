"""What is asked of a model and what it answers, whatever its provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from ....schema.values.codec import SKIPPED, kept
from ...values.bounds import MOST_TOOL_CALLS
from ...values.usage import NOTHING, Usage

if TYPE_CHECKING:
    from ....schema.host.models import Effort
    from ....schema.values.attachments import Attachment

__all__ = ["WORDLESS", "ChatAnswer", "ChatRequest", "Message", "ToolRequest", "Usage", "bounded"]

WORDLESS = "(no words)"
"""Stands for a message that says nothing: endpoints refuse an empty one."""

LEFT_OUT = f"[Only the first {MOST_TOOL_CALLS} tool calls of an answer are done; it had more.]"
"""What a model reads in its own answer, where it had more."""

Message = Mapping[str, Any]
"""A message as OpenAI's chat API has it: `role`, `content`, and tool calls where there are any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """One call of a model.

    Attributes:
        attachments: What the model sees with the first message of the user, by name.
        temperature: None for the endpoint's own.
        top_p: The likeliest tokens that are chosen from, by their share. None for the endpoint's
            own.
        effort: How long the model may think before it answers. None for the endpoint's own.
        seed: For endpoints that can repeat themselves.
        tools: Tool definitions as OpenAI's chat API has them.
        tool_choice: `auto`, `required`, or a choice as that API has it.
        schema: JSON Schema that the answer must follow, where the endpoint can be held to it.
        retries: How often a failure that may pass is tried again.
        patience: Seconds that an answer may take, where the model's own timeout allows more. Waits
            for a slot and before a retry do not count. None for the model's own timeout.
        source: What the messages were written from, for a simulated model that reads no text: an
            operator's `Question`. It is never sent, and shapes no answer of a real model.
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


@kept()
class ToolRequest:
    """A tool that the model wants called.

    Attributes:
        id: How its result is told from others.
        arguments: JSON text as the model wrote it.
        extra: What the endpoint wants back with the call, as fields of it: Gemini's signature.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@kept()
class ChatAnswer:
    """What a model answered.

    Attributes:
        text: The text, empty where the model only calls tools, or only thought.
        thinking: What it thought aloud ahead of it; never a part of the answer. Empty where it did
            not, or its endpoint does not tell.
        kept: What the endpoint wants back with this message within a tool loop, as fields of the
            assistant's message that has the tool calls.
        finish_reason: `stop`, `length`, `tool_calls`, or the endpoint's own word.
        usage: What the call consumed, attempts without an answer included.
        reported_usd: What the provider says that it cost, in USD; None where it does not say.
        model: The model that the endpoint says answered.
        fingerprint: What the endpoint says of itself, such as its version; empty where it does not.
        alias: The alias that answered: the one that was asked, or a fallback of it.
        seconds: From the first attempt to the answer.
        adapted: What was said otherwise than it was asked for, since the endpoint refuses that: the
            parameter, and what was said instead.
        attempts: Attempts of the alias that answered: 1, and one for each failure retried.
        refused: Why its calls of tools are not done, in words for the model; they are taken out
            then, and stand in the text as it wrote them. Empty where nothing is wrong with them.
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
    """Return an answer with no more tool calls than are done; it says so where there were more.

    What was kept of such an answer is of all its calls, and is not given back.
    """
    if len(answer.tool_calls) <= MOST_TOOL_CALLS:
        return answer
    text = f"{answer.text}\n\n{LEFT_OUT}".strip()
    return replace(answer, text=text, tool_calls=answer.tool_calls[:MOST_TOOL_CALLS], kept={})
