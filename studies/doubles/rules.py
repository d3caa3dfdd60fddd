"""What a request must keep to as a whole, in each provider's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .messages_form import signed
from .said import Refusal, mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .provider import Rule
    from .said import Body

Message = dict[str, Any]


def with_tools(refusal: Refusal, **allowed: object) -> Rule:
    """Refuse tools, but together with the given values of other parameters."""

    def check(body: Body) -> Refusal | None:
        is_allowed = all(body.get(key) == value for key, value in allowed.items())
        return None if not body.get("tools") or is_allowed else refusal

    return check


def tool_messages_follow(body: Body) -> Refusal | None:
    """Refuse a tool's call without its result, and a result without its call.

    The sentences are OpenAI's; of the others who check it, not all have their own.
    """
    open_calls: list[str] = []
    for index, message in enumerate(_messages(body)):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return Refusal(status=400, message=_NO_CALL, param=f"messages.[{index}].role")
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            break
        else:
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    if open_calls:
        return Refusal(status=400, message=_NO_RESULT + ", ".join(open_calls), param="messages")
    return None


_NO_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message"
    " with 'tool_calls'."
)
_NO_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
    " 'tool_call_id'. The following tool_call_ids did not have response messages: "
)


def closed_schemas(body: Body) -> Refusal | None:
    """Refuse a strict schema with an object that is open or has an optional field, as OpenAI."""
    report = (body.get("response_format") or {}).get("json_schema") or {}
    format_ = (body.get("text") or {}).get("format") or {}
    if report.get("strict"):
        return _open_object(report["schema"], report["name"], "response_format", ())
    if format_.get("strict"):
        return _open_object(format_["schema"], format_["name"], "text.format.schema", ())
    return None


def _open_object(
    schema: Mapping[str, Any], name: str, param: str, path: tuple[str, ...]
) -> Refusal | None:
    problem = _problem(schema)
    if problem is not None:
        text = f"Invalid schema for response_format '{name}': In context={path}, {problem}"
        return Refusal(status=400, message=text, param=param)
    inner: list[tuple[tuple[str, ...], Any]] = [
        (("properties", key), item) for key, item in (schema.get("properties") or {}).items()
    ]
    if isinstance(schema.get("items"), dict):
        inner.append((("items",), schema["items"]))
    return next(
        (
            refusal
            for step, item in inner
            if (refusal := _open_object(item, name, param, path + step))
        ),
        None,
    )


def _problem(schema: Mapping[str, Any]) -> str | None:
    if schema.get("type") != "object":
        return None
    if schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    missing = set(schema.get("properties") or {}) - set(schema.get("required") or ())
    if missing:
        return (
            "'required' is required to be supplied and to be an array including every key in"
            f" properties. Missing '{min(missing)}'."
        )
    return None


def json_types(refusal: Refusal, *known: str) -> Rule:
    """Refuse a `response_format` of another type, named `{value}`."""

    def check(body: Body) -> Refusal | None:
        value = (body.get("response_format") or {}).get("type")
        return None if value is None or value in known else refusal.about(value=value)

    return check


def only_fields(refusal: Refusal, *known: str) -> Rule:
    """Refuse a message of the assistant with another field, with its `{index}` and `{field}`."""

    def check(body: Body) -> Refusal | None:
        for index, message in enumerate(_messages(body)):
            for field in message if message["role"] == "assistant" else ():
                if field not in known:
                    return refusal.about(index=index, field=field)
        return None

    return check


def only_options(refusal: Refusal, parameter: str, *known: str) -> Rule:
    """Refuse a parameter's field that is not known, with its `{option}`."""

    def check(body: Body) -> Refusal | None:
        strange = (option for option in body.get(parameter) or () if option not in known)
        option = next(strange, None)
        return None if option is None else refusal.about(option=option)

    return check


def nine_letter_ids(refusal: Refusal) -> Rule:
    """Refuse the `{id}` of a tool call that is not nine letters and digits."""

    def check(body: Body) -> Refusal | None:
        for message in _messages(body):
            for call in message.get("tool_calls") or ():
                if len(call["id"]) != 9 or not call["id"].isalnum():
                    return refusal.about(id=call["id"])
        return None

    return check


def last_turn(body: Body) -> Iterator[tuple[int, Message]]:
    """Return the messages after the last one of the user, with their places."""
    messages = _messages(body)
    asked = max(
        (at for at, message in enumerate(messages) if message["role"] == "user"), default=-1
    )
    return ((at, message) for at, message in enumerate(messages) if at > asked)


def marked(refusal: Refusal, field: str) -> Rule:
    """Refuse a message with tool calls whose thinking does not come back as it was told.

    Args:
        refusal: What is answered; `{index}` is known in it.
        field: Of the message, with the thinking.
    """

    def check(body: Body) -> Refusal | None:
        for index, message in enumerate(_messages(body)):
            for call in message.get("tool_calls") or ():
                if not call["id"].startswith(mark(message.get(field) or "")):
                    return refusal.about(index=index)
        return None

    return check


def blocks_follow(body: Body) -> Refusal | None:
    """Refuse tool_use blocks whose results do not stand first in the next message, as Anthropic."""
    messages = _messages(body)
    for index, message in enumerate(messages):
        used = [block["id"] for block in _blocks(message) if block["type"] == "tool_use"]
        following = _blocks(messages[index + 1]) if index + 1 < len(messages) else []
        results = [item["tool_use_id"] for item in following if item["type"] == "tool_result"]
        missing = [item for item in used if item not in results]
        if missing:
            return Refusal(
                status=400,
                message=(
                    f"messages.{index + 1}: `tool_use` ids were found without `tool_result` blocks"
                    f" immediately after: {', '.join(missing)}. Each `tool_use` block must have a"
                    " corresponding `tool_result` block in the next message."
                ),
            )
    return None


def signed_thinking(refusal: Refusal) -> Rule:
    """Refuse, while the model thinks, a tool's result without the signed thinking before the call.

    Args:
        refusal: What is answered; `{index}` and the `{kind}` of the first block are known in it.
    """

    def check(body: Body) -> Refusal | None:
        thinks = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
        for index, message in enumerate(_messages(body)) if thinks else ():
            blocks = _blocks(message)
            used = any(block["type"] == "tool_use" for block in blocks)
            if message["role"] == "assistant" and used and not _is_signed(blocks[0]):
                return refusal.about(index=index, kind=blocks[0]["type"])
        return None

    return check


def _is_signed(block: Mapping[str, Any]) -> bool:
    is_thinking = block["type"] == "thinking"
    return is_thinking and block.get("signature") == signed(block.get("thinking", ""))


def _messages(body: Body) -> Sequence[Message]:
    return cast("Sequence[Message]", body.get("messages") or ())


def _blocks(message: Mapping[str, Any]) -> list[Message]:
    content = message.get("content")
    return cast("list[Message]", content) if isinstance(content, list) else []
