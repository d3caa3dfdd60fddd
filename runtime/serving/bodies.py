"""Reads requests of the OpenAI API: the part that both endpoints share."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from ...schema.values.json_text import loads
from ...schema.values.values import is_mapping
from ..record.journal import canonical
from .messages import ClientMessage, file_of
from .refusals import bad_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..plan.plan import Plan
    from ..values.usage import Usage
    from .messages import File, Role
    from .server import ServedAnswer

TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


def read_body(body: bytes) -> dict[str, Any]:
    """Read a request.

    Raises:
        Refusal: It is no JSON object.
    """
    try:
        value = loads(body)
    except ValueError as error:
        raise bad_request(f"the request is not JSON: {error}.") from None
    if not is_mapping(value):
        raise bad_request("the request is not a JSON object.")
    return dict(value)


def part_of(body: Any, name: str) -> Mapping[str, Any]:
    """Return a field that holds an object; an empty object if it does not."""
    part = body.get(name) if is_mapping(body) else None
    return part if is_mapping(part) else {}


def refuse_set(body: Mapping[str, Any], reasons: Mapping[str, str]) -> None:
    """Refuse fields that would change the answer and that no team can honour.

    Raises:
        Refusal: One is set.
    """
    for name, why in reasons.items():
        if body.get(name):
            raise bad_request(f"{name}: {why}", name)


def refuse_form(form: Any, plan: Plan, param: str) -> None:
    """Refuse a response format other than the one of the team's output agent.

    Raises:
        Refusal: The team does not answer in that format.
    """
    kind = _form_of(form)
    if kind == "text":
        return
    schema = plan.agents[plan.output].agent.output_schema
    if schema is None:
        raise bad_request(
            f"{param}: the team answers with text. For JSON, write an output_schema for its agent"
            f" {plan.output!r} in the team file.",
            param,
        )
    wanted = (part_of(form, "json_schema") or form).get("schema") if kind != "json_object" else None
    if wanted is not None and canonical(wanted) != canonical(schema):
        raise bad_request(
            f"{param}: the team answers with the output_schema of its agent {plan.output!r}, but"
            " the request has another one. Send the same schema, or {'type': 'json_object'}.",
            param,
        )


def text_for(form: Any, answer: ServedAnswer) -> str:
    """Return an answer in the requested format, which was not refused."""
    return answer.text if _form_of(form) == "text" else answer.content


def _form_of(form: Any) -> str:
    return "text" if form is None else str(form.get("type") if is_mapping(form) else form)


def items_of(value: Any, param: str) -> Iterable[Mapping[str, Any]]:
    """Return the objects of a list.

    Raises:
        Refusal: It is no list, or is empty.
    """
    if not isinstance(value, list) or not value or not all(map(is_mapping, value)):
        raise bad_request(f"{param}: expected a list of messages.", param)
    return value


def message_of(message: Mapping[str, Any], param: str) -> ClientMessage:
    """Read a message.

    Raises:
        Refusal: A team cannot be given its role or its content.
    """
    role = ROLES.get(str(message.get("role")))
    if role is None:
        raise bad_request(
            f"{param}: the role {message.get('role')!r} is not supported, because a team's agents"
            " call their own tools. Roles: system, developer, user, assistant.",
            param,
        )
    content = message.get("content")
    if isinstance(content, str) or content is None:
        return ClientMessage(role=role, text=content or "")
    parts = items_of(content, param)
    texts = [str(part.get("text", part.get("refusal"))) for part in parts if _kind(part) in TEXTS]
    files = [_file(part, param) for part in parts if _kind(part) not in TEXTS]
    return ClientMessage(role=role, text="\n".join(texts), files=files)


def _kind(part: Mapping[str, Any]) -> str:
    return str(part.get("type"))


def _file(part: Mapping[str, Any], param: str) -> tuple[str, File]:
    """Read a file or an image of a message: its name and its content."""
    match _kind(part):
        case "image_url":
            url = part_of(part, "image_url").get("url", part.get("image_url"))
            return "", _content(url, param)
        case "input_image":
            return "", _content(part.get("image_url"), param)
        case "file":
            held = part_of(part, "file")
            return str(held.get("filename") or ""), _content(held.get("file_data"), param)
        case "input_file":
            return str(part.get("filename") or ""), _content(part.get("file_data"), param)
        case kind:
            raise bad_request(f"{param}: parts of the type {kind!r} are not supported.")


def _content(data: Any, param: str) -> File:
    """Read a data URL, or base64. Nothing is fetched from an address."""
    if not isinstance(data, str) or data.startswith(("http://", "https://")):
        raise bad_request(
            f"{param}: send the image or file itself, as data:…;base64,…. URLs are not fetched, and"
            " file ids are not supported.",
            param,
        )
    _, comma, encoded = data.partition(";base64,")
    try:
        content = base64.b64decode(encoded if comma else data, validate=True)
    except (binascii.Error, ValueError):
        raise bad_request(f"{param}: a file is not valid base64.", param) from None
    return file_of(content)


def usage_value(usage: Usage, prompt: str, completion: str) -> dict[str, Any]:
    """Return the usage of a run, summed over all its agents, as the API writes it.

    Args:
        prompt: The API's name for input tokens.
        completion: The API's name for output tokens.
    """
    return {
        f"{prompt}_tokens": usage.prompt_tokens,
        f"{completion}_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
        f"{prompt}_tokens_details": {"cached_tokens": usage.cached_tokens},
        f"{completion}_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
