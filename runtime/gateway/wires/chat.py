"""OpenAI's chat completions, which most providers support."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ....schema.values.values import is_list, is_mapping
from ..chat.answer import answer_of
from ..chat.body import Body
from ..chat.fallback import ParameterForm, each_alone, in_pieces, tool_choices
from .chat_stream import ChatAssembly
from .thinking import thinking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from ..chat.fallback import ParameterFallback
    from ..chat.messages import ChatAnswer, ChatRequest, Message
    from ..endpoint import Endpoint


MOST_TEMPLATES = 100
"""The most templates to cache for one endpoint."""
SIGNING = re.compile(r"(?:.*/)?gemini-(?:[3-9]|\d\d)")
BY_ANOTHER: Mapping[str, Any] = {
    "extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}
}
"""The documented signature for a call by another model."""


class ChatWire:
    """Writes requests and reads answers of the chat API."""

    path = "/chat/completions"
    headers = MappingProxyType[str, str]({})
    assembly = ChatAssembly

    def body(self, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Body:
        """Return the body of a request; see `WireFormat.body`.

        Requests that differ only in their messages share a cached template.
        """
        if request.schema is not None or request.tools or request.seed is not None:
            return self._body(endpoint, request, refused)
        limits = (request.max_tokens, request.temperature, request.top_p, request.effort)
        key = (*limits, request.stop, frozenset(refused))
        if (template := endpoint.templates.get(key)) is None:
            if len(endpoint.templates) >= MOST_TEMPLATES:
                endpoint.templates.clear()
            template = endpoint.templates[key] = self._body(endpoint, request, refused).saying(())
        return template.saying(signed(endpoint, request.messages))

    def _body(self, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Body:
        fields = {
            "model": endpoint.model,
            "messages": signed(endpoint, request.messages),
            "tools": list(request.tools) or None,
        }
        top_p = endpoint.top_p if request.top_p is None else request.top_p
        ladders = {
            "max_tokens": _most(request.max_tokens),
            **each_alone(
                temperature=request.temperature,
                top_p=top_p,
                seed=request.seed,
                stop=list(request.stop) or None,
            ),
            "tool_choice": tool_choices(request),
            **thinking(endpoint, request),
            "response_format": _constraint(endpoint, request),
            "stream": in_pieces(endpoint, stream_options={"include_usage": True}),
        }
        extra = {} if endpoint.kind == "litellm" else endpoint.extra  # litellm gets them separately
        return Body.of(fields, ladders, refused, extra)

    def answer(self, body: Mapping[str, Any], source: str) -> ChatAnswer:
        """Extract the answer from a response; see `WireFormat.answer`."""
        return answer_of(body, source)


CHAT = ChatWire()


def _most(tokens: int) -> ParameterFallback:
    """Return the ladder of the output limit. It is never left out, because it bounds the cost."""
    older, newer = ("max_tokens", "max_completion_tokens")
    return (
        ParameterForm(name=older, place=older, fields={older: tokens}),
        ParameterForm(name=newer, place=newer, fields={newer: tokens}, is_same=True),
    )


def _constraint(endpoint: Endpoint, request: ChatRequest) -> ParameterFallback:
    """Constrain the answer to a schema as the endpoint supports it, at least in the prompt.

    The caller validates the answer in any case.
    """
    schema = request.schema
    if schema is None:
        return ()
    if endpoint.kind == "local":
        from ...local.grammar import schema_grammar

        return (ParameterForm(name="grammar", fields={"grammar": schema_grammar(schema)}),)
    from ..chat.schema_in_words import with_schema

    named = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
    fields = {"messages": signed(endpoint, with_schema(request.messages, schema))}
    strict = {"response_format": {"type": "json_schema", "json_schema": named}}
    loose = {"response_format": {"type": "json_object"}, **fields}
    return (
        ParameterForm(name="json_schema", place="response_format", fields=strict),
        ParameterForm(name="json_object", place="response_format", fields=loose),
        ParameterForm(name="instructions", fields=fields),
    )


def is_strict(schema: Any) -> bool:
    """Return whether a schema's objects are closed and complete, as strict decoding requires."""
    if is_list(schema):
        return all(is_strict(item) for item in schema)
    if not is_mapping(schema):
        return True
    if schema.get("type") == "object":
        fields: dict[str, Any] = schema.get("properties") or {}
        required: list[str] = schema.get("required") or []
        if schema.get("additionalProperties") is not False or set(required) != set(fields):
            return False
    return all(is_strict(item) for item in schema.values())


def signed(endpoint: Endpoint, messages: Sequence[Message]) -> list[Message]:
    """Return messages with a signature for each turn of calls, if Gemini reads them.

    From version 3 on, Gemini refuses a conversation with an unsigned call, such as one by a
    fallback that answered in between (ai.google.dev/gemini-api/docs/thought-signatures).

    Args:
        endpoint: The endpoint that reads them. litellm signs calls itself.
        messages: The conversation, with the signatures that were kept.
    """
    is_gemini = endpoint.kind == "openai" and SIGNING.match(endpoint.model)
    return [_signed(message) for message in messages] if is_gemini else list(messages)


def _signed(message: Message) -> Message:
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if not calls or any("extra_content" in call for call in calls):
        return message
    # Of parallel calls only the first one is signed.
    return {**message, "tool_calls": [{**calls[0], **BY_ANOTHER}, *calls[1:]]}
