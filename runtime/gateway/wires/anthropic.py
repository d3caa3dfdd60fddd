"""Anthropic's Messages API (platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ....schema.values.values import is_mapping
from ..chat.answer import answer_of, lacking
from ..chat.body import Body
from ..chat.fallback import (
    LEFT_OUT,
    ParameterForm,
    chosen,
    each_alone,
    in_pieces,
    is_refused,
    tool_choices,
)
from ..chat.schema_in_words import with_schema
from .anthropic_answer import ANSWER_TOOL, as_chat, is_interleaved
from .anthropic_schema import as_input_schema, as_output_format
from .anthropic_stream import AnthropicAssembly
from .anthropic_thinking import thinking
from .anthropic_turns import turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from ..chat.fallback import ParameterFallback
    from ..chat.messages import ChatAnswer, ChatRequest, Message
    from ..endpoint import Endpoint

MARK = {"cache_control": {"type": "ephemeral"}}
"""Marks the end of a prefix that the provider caches for five minutes. Reading it again costs a
tenth; storing it costs a quarter more
(platform.claude.com/docs/en/build-with-claude/prompt-caching)."""
CACHED = ParameterForm(name="ephemeral", place="cache_control")

BY_TOOL = "tool"
MUST_ANSWER = (
    ParameterForm(
        name="named",
        place="tool_choice",
        fields={"tool_choice": {"type": "tool", "name": ANSWER_TOOL}},
    ),
    LEFT_OUT,
)
"""Asks a model to answer through its tool; the newest cannot be forced to, but usually do."""


class AnthropicWire:
    """Writes requests and reads answers of the Messages API.

    The API has no seed. The constant part of a prompt is marked for the provider's cache: always
    the instructions and tools, and the conversation if an agent works step by step.
    """

    path = "/messages"
    headers = MappingProxyType({"anthropic-version": "2023-06-01"})
    """The API's only version (platform.claude.com/docs/en/api/versioning)."""
    assembly = AnthropicAssembly

    def body(self, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Body:
        """Return the body of a request; see `WireFormat.body`."""
        is_cached = not is_refused("cache_control", CACHED, refused)
        tools = [_tool(tool) for tool in request.tools]
        fields = {
            "model": endpoint.model,
            "max_tokens": request.max_tokens,
            "tools": _marked(tools) if is_cached else tools or None,
            **_prompt(request, request.messages, is_cached=is_cached),
        }
        ladders = {
            **each_alone(
                temperature=request.temperature,
                top_p=endpoint.top_p if request.top_p is None else request.top_p,
            ),
            "stop": _stop(request),
            "tool_choice": tool_choices(request, _choice),
            **thinking(endpoint, request),
            "response_format": _constraint(request, is_cached=is_cached),
            "cache_control": (CACHED, LEFT_OUT),
            "stream": in_pieces(endpoint),
        }
        if (form := chosen(ladders, refused).get("response_format")) and form.name == BY_TOOL:
            ladders["tool_choice"] = MUST_ANSWER
        return Body.of(fields, ladders, refused, endpoint.extra)

    def answer(self, body: Mapping[str, Any], source: str) -> ChatAnswer:
        """Extract the answer from a response; see `WireFormat.answer`."""
        try:
            blocks: list[Mapping[str, Any]] = body["content"]
            fields = as_chat(body, blocks)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            raise lacking(source, body, "content in the Messages API's format") from None
        answer = answer_of(fields, source)
        if answer.kept and is_interleaved(blocks):
            return replace(answer, kept={**answer.kept, "content_blocks": list(blocks)})
        return answer


ANTHROPIC = AnthropicWire()


def _prompt(
    request: ChatRequest, messages: Sequence[Message], *, is_cached: bool
) -> dict[str, Any]:
    """Return instructions and turns, and mark the part with which the next prompt begins."""
    instructions, turns = turns_of(messages)
    system = [{"type": "text", "text": instructions}] if instructions else []
    if is_cached:
        system = _marked(system)
        if request.tools or len(turns) > 1:  # it works step by step
            turns[-1]["content"] = _marked(turns[-1]["content"])
    return {"system": system or None, "messages": turns}


def _marked(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    return [*blocks[:-1], {**blocks[-1], **MARK}] if blocks else None


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function: Mapping[str, Any] = tool["function"]
    parameters = function.get("parameters") or {}
    written = {"name": function["name"], "input_schema": {"type": "object", **parameters}}
    if description := function.get("description"):
        written["description"] = description
    return written


def _choice(choice: Any) -> dict[str, Any]:
    if is_mapping(choice):
        return {"type": "tool", "name": choice["function"]["name"]}
    return {"type": "any" if choice == "required" else choice}


def _stop(request: ChatRequest) -> ParameterFallback:
    """Return the ladder of stop sequences, without blank ones, which the API refuses."""
    texts = [text for text in request.stop if text.strip()]
    name = "stop_sequences"
    return (ParameterForm(name=name, place=name, fields={name: texts}), LEFT_OUT) if texts else ()


def _constraint(request: ChatRequest, *, is_cached: bool) -> ParameterFallback:
    """Constrain the model to a schema: by output format, else by a tool, else in the prompt."""
    schema = request.schema
    if schema is None:
        return ()
    forms: list[ParameterForm] = []
    if (output_format := as_output_format(schema)) is not None:
        fields = {"output_config": {"format": output_format}}
        forms.append(ParameterForm(name="json_schema", place="output_config.format", fields=fields))
    if (parameters := as_input_schema(schema)) is not None and not request.tools:
        forms.append(_answer(parameters))
    record = _prompt(request, with_schema(request.messages, schema), is_cached=is_cached)
    return (*forms, ParameterForm(name="instructions", fields=record))


def _answer(parameters: Mapping[str, Any]) -> ParameterForm:
    """Return the form that makes the model answer through a tool."""
    word = "Gives the answer, in the form that it must have."
    tool = {"name": ANSWER_TOOL, "description": word, "input_schema": parameters}
    return ParameterForm(name=BY_TOOL, place="tools", fields={"tools": [tool]})
