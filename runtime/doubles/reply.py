"""A scripted model's reply: one value for an answer, an error or a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from types import MappingProxyType
from typing import Any, Literal, Self

Delivery = Literal[
    "whole",
    "half",
    "truncated",
    "headers",
    "closed",
    "never",
    "dripped",
    "dripped_headers",
    "paced",
    "padded",
    "endless",
]
"""How the bytes of a response reach the client.

* `whole`: all of them, at once.
* `half`: half of the body, with the length of that half: a document that ends too early.
* `truncated`: half of the body under the length of the whole; then the connection closes.
* `headers`: the headers; then the connection closes.
* `closed`: nothing; the connection closes.
* `never`: nothing, until the client gives up.
* `dripped`: the headers, then one byte per `Reply.interval`.
* `dripped_headers`: one byte of the headers per `Reply.interval`, then the body.
* `paced`: the headers, then one event of a stream per `Reply.interval`; a response that is no
  stream at once.
* `padded`: ten million spaces, then the body.
* `endless`: the body without its last character, then spaces until the client gives up."""

Fault = Literal[
    "bad_tool_json",
    "cached_usage",
    "close_after_headers",
    "close_before_headers",
    "content_filter",
    "context_overflow",
    "drip",
    "empty_body",
    "endless_body",
    "half_json",
    "hang",
    "html_body",
    "huge_usage",
    "large_body",
    "length",
    "negative_usage",
    "no_choices",
    "no_usage",
    "null_content",
    "slow_headers",
    "text_usage",
    "truncated_body",
    "unknown_tool",
    "wrong_usage",
]
"""The valid names for `Reply.fault`; `FAULTS` has the reply for each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptedCall:
    """A tool that the model calls. `arguments` is JSON text, as models write it."""

    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One answer of a scripted model, good or bad. The class methods build the usual ones.

    Attributes:
        text: The content of the message; None is sent as null.
        finish_reason: Why the model stopped: `stop`, `length`, `tool_calls`, `content_filter`.
        latency: Seconds from the request to the answer.
        usage: `computed` counts one token for four characters of request and answer, `missing`
            omits the field, any other value is sent unchanged.
        headers: Added to those of the response, names in lower case.
        body: Sent unchanged instead of a chat completion; None for a chat completion.
        events: The data of each event, if the request wants a stream; None for the chunks of a chat
            completion. Text such as `[DONE]` is sent unchanged, any other value as JSON.
        delivery: How the bytes reach the client.
        interval: Seconds before each dripped byte and each paced event.
    """

    text: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    finish_reason: str = "stop"
    latency: float = 0.0
    usage: Mapping[str, object] | Literal["computed", "missing"] = "computed"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None
    events: tuple[str | Mapping[str, object], ...] | None = None
    delivery: Delivery = "whole"
    interval: float = 0.1

    @classmethod
    def json(cls, value: object) -> Self:
        """Answer with a JSON document, as a model does under a schema."""
        return cls(text=json.dumps(value, ensure_ascii=False))

    @classmethod
    def code(cls, source: str) -> Self:
        """Answer with Python for a smolagents `CodeAgent`, between its default code tags."""
        return cls(text=f"<code>\n{source}\n</code>")

    @classmethod
    def tool(cls, name: str, /, **arguments: object) -> Self:
        """Call one tool, for instance `final_answer` of a smolagents `ToolCallingAgent`."""
        call = ScriptedCall(name=name, arguments=json.dumps(arguments, ensure_ascii=False))
        return cls(tool_calls=(call,), finish_reason="tool_calls")

    @classmethod
    def bash(cls, command: str) -> Self:
        """Run a shell command by the tool call that mini-swe-agent expects."""
        return cls.tool("bash", command=command)

    @classmethod
    def error(
        cls,
        status: int,
        *,
        message: str = "",
        code: str | None = None,
        retry_after: float | str | datetime | None = None,
    ) -> Self:
        """Fail with an error document in OpenAI's form.

        Args:
            status: The HTTP status, 400 to 599.
            message: For people; if empty, a sentence with the status.
            code: For programs, for instance `invalid_api_key`.
            retry_after: The Retry-After header: seconds, a moment (sent as an HTTP date), or any
                text.
        """
        error = {
            "message": message or f"The script answers this call with status {status}.",
            "type": "server_error" if status >= 500 else _CLIENT_ERRORS.get(status, _BAD_REQUEST),
            "param": None,
            "code": code,
        }
        headers = {} if retry_after is None else {"retry-after": _retry_after(retry_after)}
        return cls(status=status, headers=headers, body=json.dumps({"error": error}))

    @classmethod
    def fault(cls, name: Fault) -> Reply:
        """Misbehave in one of the ways that `FAULTS` lists.

        Raises:
            ValueError: No fault has this name.
        """
        if name not in FAULTS:
            raise ValueError(f"no fault is named {name!r}; use one of {', '.join(FAULTS)}")
        return FAULTS[name]

    def replace(self, **changes: Any) -> Self:
        """Return this reply with some attributes changed: `Reply.code("1").replace(latency=2)`."""
        return replace(self, **changes)


_BAD_REQUEST = "invalid_request_error"
_CLIENT_ERRORS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_SOUND = Reply(text="This answer is complete.")

FAULTS: Mapping[Fault, Reply] = MappingProxyType(
    {
        "bad_tool_json": Reply(
            tool_calls=(ScriptedCall(name="final_answer", arguments='{"answer": '),),
            finish_reason="tool_calls",
        ),
        "cached_usage": _SOUND.replace(
            usage={
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 20},
            }
        ),
        "close_after_headers": _SOUND.replace(delivery="headers"),
        "close_before_headers": _SOUND.replace(delivery="closed"),
        "content_filter": Reply(finish_reason="content_filter"),
        "context_overflow": Reply.error(
            400,
            # Clients recognise this condition by the beginning of the sentence.
            message="This model's maximum context length is 8192 tokens, the messages have 9000.",
            code="context_length_exceeded",
        ),
        "drip": _SOUND.replace(delivery="dripped"),
        "empty_body": Reply(body=""),
        "endless_body": _SOUND.replace(delivery="endless"),
        "half_json": _SOUND.replace(delivery="half"),
        "hang": _SOUND.replace(delivery="never"),
        "html_body": Reply(
            body="<!doctype html><title>Welcome</title><p>Sign in to this network.</p>",
            headers={"content-type": "text/html; charset=utf-8"},
        ),
        "huge_usage": _SOUND.replace(
            usage={"prompt_tokens": 10**30, "completion_tokens": 10**30, "total_tokens": 2 * 10**30}
        ),
        "large_body": _SOUND.replace(delivery="padded"),
        "length": Reply(text="This answer was cut sho", finish_reason="length"),
        "negative_usage": _SOUND.replace(
            usage={"prompt_tokens": -5, "completion_tokens": -5, "total_tokens": -10}
        ),
        "no_choices": Reply(
            body='{"id": "chatcmpl-0", "object": "chat.completion", "created": 0,'
            ' "model": "scripted", "choices": []}'
        ),
        "no_usage": _SOUND.replace(usage="missing"),
        "null_content": Reply(),
        "slow_headers": _SOUND.replace(delivery="dripped_headers"),
        "text_usage": _SOUND.replace(usage={"prompt_tokens": "12", "completion_tokens": True}),
        "truncated_body": _SOUND.replace(delivery="truncated"),
        "unknown_tool": Reply.tool("no_such_tool"),
        "wrong_usage": _SOUND.replace(
            usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 1_000_000_000}
        ),
    }
)
"""Every fault by its name. `.replace(...)` varies one: another text, interval or latency."""


def _retry_after(when: float | str | datetime) -> str:
    if isinstance(when, datetime):
        return format_datetime(when.astimezone(UTC), usegmt=True)
    return str(when)
