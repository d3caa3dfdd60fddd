"""Attributes of spans, by OpenTelemetry's conventions for generative AI, from events of runs.

Attributes that the conventions do not name are called `coterie.…`. Texts by people, models or tools
are content, which is left out unless requested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...schema.values.json_text import dumps, loads
from ...schema.values.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...schema.host.models import Model

PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "local": "coterie.local",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""The conventions' names of providers that have another name in models.yaml."""

NAMES = frozenset(
    {
        *("agent", "agents", "alias", "by", "from", "given", "kind", "name", "of", "operator"),
        *("received", "round", "run", "sender", "source", "status", "team", "to", "tool"),
        "finish_reason",
    }
)
"""Fields whose texts are names rather than content."""

TOKENS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read.input_tokens",
    "stored_tokens": "cache_write.input_tokens",
    "reasoning_tokens": "reasoning.output_tokens",
}
ALWAYS = frozenset({"prompt_tokens", "completion_tokens"})


def clean(attributes: Mapping[str, Any], scrub: Callable[[str], str]) -> dict[str, Any]:
    """Return attributes in a span's form: without secrets, and without None.

    Args:
        attributes: JSON-able. Lists of plain values stay lists; deeper values become JSON text.
        scrub: Removes secrets from all of it at once, as from a line of events.jsonl.
    """
    text = dumps(
        {name: item for name, item in attributes.items() if item is not None}, default=repr
    )
    scrubbed = scrub(text)
    return {name: _flat(load) for name, load in loads(scrubbed).items()}


def _flat(value: Any) -> Any:
    is_deep = is_mapping(value) or (is_list(value) and any(not _is_text(item) for item in value))
    return dumps(value, ensure_ascii=False) if is_deep else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def event_attributes(fields: Mapping[str, Any], *, content: bool) -> dict[str, Any]:
    """Return the fields of an event besides its type: numbers, names, and texts if requested."""
    return {
        f"coterie.{name}": field
        for name, field in fields.items()
        if content or isinstance(field, bool | int | float) or (name in NAMES and _is_named(field))
    }


def _is_named(value: Any) -> bool:
    """Return whether a value is a name or a list of names; a mapping of texts is neither."""
    return _is_text(value) or (is_list(value) and all(map(_is_text, value)))


def provider_of(model: Model) -> tuple[str, str]:
    """Return a model's provider by the conventions' name, and the model's name there."""
    if model.api_base is not None:
        return ("anthropic" if model.api == "anthropic" else "openai"), model.model
    prefix, slash, name = model.model.partition("/")
    if model.is_embedded:
        return PROVIDERS["local"], model.model
    if model.is_inbox:
        return "inbox", model.model
    return (PROVIDERS.get(prefix, prefix), name) if slash else ("openai", model.model)


def described(alias: str, model: Model | None, answering: str) -> dict[str, Any]:
    """Return the attributes of a call that are known before it is made.

    Args:
        model: The model behind the alias; None if it is not recorded.
        answering: The model that answered, which then counts as the model; may be empty.
    """
    if model is None:
        names = {"gen_ai.provider.name": "_OTHER", "gen_ai.request.model": answering or alias}
        return {**names, "coterie.alias": alias}
    provider, name = provider_of(model)
    address = urlsplit(model.api_base or "")
    port = address.port or {"http": 80, "https": 443}.get(address.scheme)
    return {
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
        "server.address": address.hostname,
        "server.port": port if address.hostname else None,
        "coterie.alias": alias,
    }


def call_result(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a call, without its content.

    Tokens of an answer from the journal or the cache were not spent by this process: they have
    another name, so that sums count them once.
    """
    usage, source = fields.get("usage", {}), fields.get("source")
    prefix = "gen_ai.usage" if source is None else "coterie.recorded"
    tokens = {
        f"{prefix}.{name}": usage[word]
        for word, name in TOKENS.items()
        if word in usage and (usage[word] or word in ALWAYS)
    }
    reason = fields.get("finish_reason")
    return {
        **tokens,
        "gen_ai.request.max_tokens": fields.get("max_tokens"),
        "gen_ai.request.temperature": fields.get("temperature"),
        "gen_ai.response.model": fields.get("model"),
        "gen_ai.response.finish_reasons": [reason] if reason else None,
        "coterie.usd": usage.get("usd") if source is None else None,
        "coterie.unpriced_calls": usage.get("unpriced_calls") or None,
        "coterie.attempts": fields.get("attempts"),
        "coterie.operator": fields.get("operator"),
        "coterie.path": fields.get("path"),
        "coterie.source": source,
    }


def used(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent's total usage, under other names than the usage of its calls."""
    counts = {"calls": "calls", "usd": "usd", "uncertain_calls": "uncertain_calls"}
    counts |= {name: TOKENS[name] for name in ALWAYS}
    return {
        f"coterie.used.{name}": usage[count] for count, name in counts.items() if usage.get(count)
    }


def call_content(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's input and output."""
    messages = fields.get("messages")
    parts: list[Any] = _parts(fields.get("text"))
    parts += [_called(item) for item in fields.get("tool_calls", ())]
    if thinking := fields.get("thinking"):
        parts.insert(0, {"type": "reasoning", "content": thinking})
    answer = {"role": "assistant", "parts": parts, "finish_reason": fields.get("finish_reason")}
    inputs = [_message(message) for message in (messages if is_list(messages) else ())]
    return {
        "gen_ai.input.messages": inputs or None,
        "gen_ai.output.messages": [answer] if parts else None,
    }


def _message(message: Any) -> dict[str, Any]:
    """Return a message in the conventions' form."""
    fields = message if is_mapping(message) else {"content": message}
    role, content = str(fields.get("role", "user")), fields.get("content")
    if role == "tool":
        response = {"type": "tool_call_response", "response": content}
        return {"role": role, "parts": [{**response, "id": fields.get("tool_call_id")}]}
    calls = fields.get("tool_calls")
    called = [_called(call) for call in (calls if is_list(calls) else ())]
    return {"role": role, "parts": [*_parts(content), *called]}


def _parts(content: Any) -> list[dict[str, Any]]:
    parts = content if is_list(content) else [content]
    return [_part(part) for part in parts if part]


def _part(part: Any) -> dict[str, Any]:
    if not is_mapping(part):
        return {"type": "text", "content": str(part)}
    return {"type": "text", "content": part["text"]} if "text" in part else dict(part)


def _called(call: Any) -> dict[str, Any]:
    """Return a tool call in the conventions' form, from a request or an answer."""
    fields = call if is_mapping(call) else {}
    function = fields.get("function", fields)
    named = {"name": function.get("name"), "arguments": function.get("arguments")}
    return {"type": "tool_call", "id": fields.get("id"), **named}


def tool_content(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's input and output."""
    shown = {"arguments": fields.get("arguments"), "result": fields.get("result")}
    return {
        f"gen_ai.tool.call.{name}": item if item is None or _is_text(item) else dumps(item)
        for name, item in shown.items()
    }
