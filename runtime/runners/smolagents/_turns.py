"""A smolagents agent's memory as messages. Importing this imports smolagents.

smolagents writes tool calls and their results as text, and drops everything else of an answer. That
text is sent, except for answers with kept fields: these are sent as the original tool calls,
because kept fields cannot accompany text.
"""

# smolagents has type hints, but does not say so.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from smolagents import ToolCallingAgent
from smolagents.agents import MultiStepAgent, ToolOutput
from smolagents.memory import ActionStep
from smolagents.models import (
    ChatMessage,
    MessageRole,
    get_clean_message_list,
    tool_role_conversions,
)
from smolagents.utils import AgentGenerationError, AgentParsingError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from smolagents.monitoring import TokenUsage

    from ...gateway import Message


@dataclass(kw_only=True, eq=False)
class KeptTurn:
    """An answer with kept fields, and the results of its tool calls.

    Attributes:
        message: The answer, in the form to give back.
        results: Its tools' results, by the ids of the calls.
        error: Why a call had no result.
    """

    message: Message
    results: dict[str, str] = field(default_factory=dict[str, str])
    error: str = ""

    @property
    def messages(self) -> Iterator[Message]:
        """The turn in the chat API's form, with a result for each call."""
        yield self.message
        for call in self.message["tool_calls"]:
            text = self.results.get(call["id"]) or self.error or "(nothing)"
            yield {"role": "tool", "tool_call_id": call["id"], "content": text}


class Unusable(Exception):
    """An answer that is not executed at all."""

    def __init__(self, why: str, text: str, usage: TokenUsage) -> None:
        super().__init__(why)
        self.text = text
        self.usage = usage


class ToldOfMistakes(MultiStepAgent):
    """An agent that learns why its answer is unusable, where smolagents would end its run."""

    def _step_stream(self, memory_step: ActionStep) -> Generator[Any]:
        try:
            yield from super()._step_stream(memory_step)
        except AgentGenerationError as error:
            unusable = error.__cause__
            if not isinstance(unusable, Unusable):
                raise
            memory_step.model_output = unusable.text
            memory_step.token_usage = unusable.usage
            raise AgentParsingError(str(unusable), self.logger) from unusable


class KeepingMemory(ToolCallingAgent):
    """An agent whose memory gives its answers' kept fields back to its model."""

    def process_tool_calls(self, chat_message: ChatMessage, memory_step: ActionStep) -> Any:
        for call in super().process_tool_calls(chat_message, memory_step):
            if isinstance(call, ToolOutput) and isinstance(chat_message.raw, KeptTurn):
                chat_message.raw.results[call.id] = call.observation
            yield call

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        messages = self.memory.system_prompt.to_messages(summary_mode=summary_mode)
        for step in self.memory.steps:
            turn = [] if summary_mode else _original_turn(step)  # plans are requested without tools
            messages += turn or step.to_messages(summary_mode=summary_mode)
        return messages


def plain(messages: Iterable[ChatMessage]) -> list[Message]:
    """Return messages in the chat API's form: text, one role after another, and kept turns."""
    return [*itertools.chain.from_iterable(_parts(messages))]


def _parts(messages: Iterable[ChatMessage]) -> Generator[Iterable[Message]]:
    for is_kept, part in itertools.groupby(messages, lambda item: isinstance(item.raw, KeptTurn)):
        if is_kept:
            yield from (cast("KeptTurn", message.raw).messages for message in part)
        else:
            yield _as_text(list(part))


def _as_text(messages: list[ChatMessage]) -> list[Message]:
    cleaned = get_clean_message_list(
        list(messages),
        role_conversions=cast("dict[str, str]", tool_role_conversions),
        flatten_messages_as_text=True,
    )
    return [
        {"role": MessageRole(item["role"]).value, "content": item["content"]} for item in cleaned
    ]


def _original_turn(step: Any) -> list[ChatMessage]:
    """Return the original messages of a step with a kept answer; empty for any other."""
    message = step.model_output_message if isinstance(step, ActionStep) else None
    if message is None or not isinstance(message.raw, KeptTurn):
        return []
    message.raw.error = str(step.error or "")
    return [ChatMessage(role=MessageRole.ASSISTANT, raw=message.raw)]
