"""OpenAI's Responses API (developers.openai.com/api/docs/guides/migrate-to-responses).

Some models answer only through it, and the newest accept tools while thinking only through it.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ....schema.values.values import is_mapping
from ..chat.answer import answer_of, lacking
from ..chat.body import Body
from ..chat.fallback import LEFT_OUT, ParameterForm, each_alone, in_pieces, tool_choices
from ..chat.schema_in_words import with_schema
from .chat import is_strict
from .responses_items import items_of
from .responses_stream import ResponsesAssembly
from .thinking import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from ..chat.fallback import ParameterFallback
    from ..chat.messages import ChatAnswer, ChatRequest, Message
    from ..endpoint import Endpoint

ENCRYPTED = (
    ParameterForm(
        name="reasoning.encrypted_content",
        place="include",
        fields={"include": ["reasoning.encrypted_content"]},
    ),
    ParameterForm(name="left out", is_same=True),
)
"""Requests encrypted thinking. Models that do not think refuse it."""


class ResponsesWire:
    """Writes requests and reads answers of the Responses API. It has neither seed nor stop.

    The provider stores nothing: its thinking arrives encrypted, and is sent back within a loop of
    tool calls.
    """

    path = "/responses"
    headers = MappingProxyType[str, str]({})
    assembly = ResponsesAssembly

    def body(self, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Body:
        """Return the body of a request; see `WireFormat.body`."""
        fields = {
            "model": endpoint.model,
            **_prompt(request.messages),
            "max_output_tokens": request.max_tokens,
            "tools": [_tool(tool) for tool in request.tools] or None,
            "store": False,
        }
        ladders = {
            **each_alone(
                temperature=request.temperature,
                top_p=endpoint.top_p if request.top_p is None else request.top_p,
            ),
            "tool_choice": tool_choices(request, _choice),
            "reasoning_effort": _effort(endpoint, request),
            "response_format": _constraint(request),
            "include": ENCRYPTED,
            "stream": in_pieces(endpoint),
        }
        return Body.of(fields, ladders, refused, endpoint.extra)

    def answer(self, body: Mapping[str, Any], source: str) -> ChatAnswer:
        """Extract the answer from a response; see `WireFormat.answer`."""
        try:
            items = [_without_nulls(item) for item in body["output"]]
            fields = _as_chat(body, items)
        except (KeyError, TypeError, AttributeError, RecursionError):
            raise lacking(source, body, "output in the Responses API's format") from None
        answer = answer_of(fields, source)
        may_be_given_back = answer.tool_calls and all(map(_is_readable, items))
        return replace(answer, kept={"output_items": items} if may_be_given_back else {})


RESPONSES = ResponsesWire()


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function: Mapping[str, Any] = tool["function"]
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    # Strict is the default here, and would change the tool's arguments.
    return {"type": "function", "strict": False, **function, "parameters": parameters}


def _prompt(messages: Sequence[Message]) -> dict[str, Any]:
    instructions, items = items_of(messages)
    return {"instructions": instructions or None, "input": items}


def _choice(choice: Any) -> Any:
    return (
        {"type": "function", "name": choice["function"]["name"]} if is_mapping(choice) else choice
    )


def _effort(endpoint: Endpoint, request: ChatRequest) -> ParameterFallback:
    """Return the ladder of an effort. The API accepts no number of thinking tokens."""
    efforts = nearest(endpoint.thinks(request)[0])
    fields = ({"reasoning": {"effort": effort}} for effort in efforts)
    forms = zip(efforts, fields, strict=True)
    result = tuple(
        ParameterForm(name=effort, place="reasoning", fields=item) for effort, item in forms
    )
    return (*result, LEFT_OUT) if result else ()


def _constraint(request: ChatRequest) -> ParameterFallback:
    """Constrain the model to a schema, at least in the prompt."""
    schema = request.schema
    if schema is None:
        return ()
    named = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
    held = {"text": {"format": {"type": "json_schema", **named}}}
    fields = _prompt(with_schema(request.messages, schema))
    return (
        ParameterForm(name="json_schema", place="text.format", fields=held),
        ParameterForm(name="instructions", fields=fields),
    )


def _without_nulls(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item without its null fields, which some endpoints do not accept back."""
    return {key: value for key, value in item.items() if value is not None}


def _is_readable(item: Mapping[str, Any]) -> bool:
    """Return whether an item can be given back: it must contain its encrypted content."""
    return item["type"] != "reasoning" or "encrypted_content" in item


def _as_chat(body: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a response in the chat API's form."""
    messages = [item for item in items if item["type"] == "message"]
    calls = [_call(item) for item in items if item["type"] == "function_call"]
    final = [fields for fields in messages if fields.get("phase") != "commentary"] or messages
    thought = [item for item in items if item["type"] == "reasoning"]
    parts = [part for message in final for part in message["content"]]
    text = "".join(part["text"] for part in parts if part["type"] == "output_text")
    refusal = "".join(part["refusal"] for part in parts if part["type"] == "refusal")
    message = {
        "content": text or refusal,
        "tool_calls": calls,
        "reasoning_items": [*thought, *(fields for fields in messages if fields not in final)],
    }
    reason = _reason(body, is_refusal=bool(refusal and not text), calls=bool(calls))
    return {
        "choices": [{"message": message, "finish_reason": reason}],
        "model": body.get("model"),
        "usage": _usage(body.get("usage")),
    }


def _reason(body: Mapping[str, Any], *, is_refusal: bool, calls: bool) -> str:
    details = body.get("incomplete_details")
    if is_mapping(details):
        return str(details.get("reason") or "incomplete")
    if (status := body.get("status")) not in (None, "completed"):
        return str(status)
    if is_refusal:
        return "content_filter"
    return "tool_calls" if calls else "stop"


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": item["name"], "arguments": item["arguments"]}
    return {"id": item["call_id"], "type": "function", "function": function}


def _usage(usage: Any) -> dict[str, Any]:
    if not is_mapping(usage):
        return {}
    read: Any = usage.get("input_tokens_details") or {}
    written: Any = usage.get("output_tokens_details") or {}
    return {
        **usage,
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {
            "cached_tokens": read.get("cached_tokens"),
            "cache_creation_tokens": read.get("cache_write_tokens"),
        },
        "completion_tokens_details": written,
    }
