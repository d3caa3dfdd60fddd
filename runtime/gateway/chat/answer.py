"""Convert an endpoint's response into an answer, or into the error that explains its absence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ....schema.values.problems import quoted
from ....schema.values.values import is_list, is_mapping
from ...scrubbing.scrubber import SHORTEST
from .ending import reason_of
from .errors import CallError, malformed
from .messages import ChatAnswer, ToolRequest, as_text, place_of, sound, text_of
from .thinking import thought_of
from .usage_shape import consumed

SIGNED = ("extra_content", "provider_specific_fields")
"""Fields of a tool call that sign the thinking before it: Gemini's own, and litellm's name for it
(ai.google.dev/gemini-api/docs/thought-signatures)."""


ANSWERED = ("choices", "content", "output", "type", "response")
"""Fields that only a response with an answer has."""
ERRORS = ("error", "Error", "errors", "fault")  # Cloudflare lists them; "fault" is Apigee's
MESSAGES = ("message", "Message", "msg", "error_msg", "errmsg", "faultstring")
"""Fields under which an endpoint reports an error, and those of its message."""


def without(secrets: Iterable[str], content: bytes) -> bytes:
    """Remove secrets from a text, before shortening could leave a part of one."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            content = content.replace(secret.encode(), b"[secret]")
    return content


def parsed(source: str, content: bytes) -> Mapping[str, Any]:
    """Parse a response as a JSON object.

    Raises:
        CallError: The response is not a JSON object.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise malformed(source, f"the answer is not JSON: {quoted(content[:200])}") from None
    if is_list(body) and len(body) == 1:  # Google wraps its errors so
        body = body[0]
    if not is_mapping(body):
        raise malformed(source, "the answer is not a JSON object")
    return cast("Mapping[str, Any]", body)


def failure_in(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the error that a response, or an event, reports in place of an answer.

    It may stand where streaming APIs put it, in a choice, or where providers put it that answer
    every request with status 200.
    """
    choices = body.get("choices")
    inner = (body.get(name) for name in ("response", "Response", "x_groq"))  # "Response": Tencent
    places = (body, *inner, *(choices if is_list(choices) else ()))
    for fields in filter(is_mapping, places):
        error = next(filter(None, map(fields.get, ERRORS)), None)
        if error := error[0] if is_list(error) and error else error:
            return error if is_mapping(error) else {"message": str(error)}
    if is_mapping(base := body.get("base_resp")) and base.get("status_code"):  # MiniMax
        return {"code": base["status_code"], "message": base.get("status_msg")}
    if any(str(body.get(name)).endswith("error") for name in ("type", "object")):
        return body
    if "title" in body and (place_of(body.get("status")) or 0) >= 400:  # RFC 9457
        return body
    is_answer = any(body.get(name) is not None for name in ANSWERED)
    tells = bool(body.get("detail")) or any(isinstance(body.get(name), str) for name in MESSAGES)
    return body if tells and not is_answer else None


def answer_of(body: Mapping[str, Any], source: str) -> ChatAnswer:
    """Extract the answer from a chat API response.

    Raises:
        CallError: The response has no choice with a message.
    """
    try:
        choice = first_of(body["choices"])
        message: Mapping[str, Any] = choice["message"]
        thought = thought_of(message)
        text = thought.text or text_of(message.get("refusal"))
        calls = tuple(map(_tool_call, message.get("tool_calls") or _former_call(message)))
        finish_reason = sound(reason_of(choice.get("finish_reason"), calls=bool(calls)))
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        raise lacking(source, body, "choices[0].message in the chat API's format") from None
    used = consumed(body, answered=bool(text or calls or thought.thinking))
    return ChatAnswer(
        text=text,
        tool_calls=calls,
        thinking=thought.thinking,
        kept=thought.fields if calls else {},
        finish_reason=finish_reason,
        usage=used.usage,
        reported_usd=used.usd,
        model=sound(str(body.get("model") or "")),
        fingerprint=sound(str(body.get("system_fingerprint") or "")),
    )


def first_of(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the choice with the lowest index: some endpoints send choices out of order."""
    return min(choices, key=lambda choice: place_of(choice.get("index")) or 0)


def lacking(source: str, body: Mapping[str, Any], lacks: str) -> CallError:
    """Return the error of a response that lacks a part that its API promises."""
    return malformed(source, f"the answer has no {lacks}; it has {quoted(sorted(body)[:10])}")


def _former_call(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return a message's call in the form before `tool_calls`, which some servers still send."""
    function = message.get("function_call")
    return [{"function": function}] if is_mapping(function) and function.get("name") else []


def _tool_call(call: Mapping[str, Any]) -> ToolRequest:
    function: Mapping[str, Any] = call["function"]
    return ToolRequest(
        id=sound(str(call.get("id") or "")),
        name=sound(str(function["name"])),
        arguments=sound(as_text(function.get("arguments"))),
        extra={name: call[name] for name in SIGNED if call.get(name)},
    )
