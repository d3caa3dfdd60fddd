"""Errors of refused requests, from status and message, and how long the endpoint asks to wait."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from ....schema.values.values import is_list, is_mapping
from ..chat.answer import ERRORS, MESSAGES
from ..chat.errors import GIVEN_UP_ON, CallError, kind_of, meaning_of
from ..chat.messages import place_of
from ..retry import LONGEST_WAIT, retry_after

IN_PLACE = "an error ({status}) instead of an answer"
LONGEST = 500
"""The most characters of an endpoint's message to show."""
LONGEST_REFUSAL = 8_000
"""The most bytes of a refusal to search for the refused parameter."""
KEY_ADVICE = " Is the key valid, and does it belong to this endpoint?"
CREDIT_ADVICE = " The account is out of credit: add credit, or use another model."
NO_KEY_ADVICE = " No key was sent: set MAS_API_KEY for NAME@URL, or key_env in models.yaml."


STATUS_OF: Mapping[str, int] = {
    "api_error": 500,
    "authentication_error": 401,
    "billing_error": 402,
    "invalid_api_key": 401,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_denied": 403,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "resource_exhausted": 429,
    "server_error": 500,
    "timeout_error": 504,
    "token_limit_exceeded": 429,
    "unauthenticated": 401,
}
"""The equivalent HTTP status of errors sent with status 200, by their codes and types."""
INVALID = ("invalid_", "unsupported_", "image_", "empty_image", "context_length")
"""Beginnings of codes that blame the request."""
WORDED = (*ERRORS, *MESSAGES, "title", "detail", "loc", "type", "code", "Code", "metadata", "raw")
"""Keys under which an error has its message, in the order to show them."""
_VERSIONED = re.compile(r"/v\d|/deployments/|api-version=")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


def refusal(
    url: str,
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    *,
    has_key: bool = True,
    label: str = "HTTP {status}",
) -> CallError:
    """Return the error of a refused request.

    Args:
        label: The name of the status in the message.
    """
    text = words_of(content)
    kind = kind_of(status, text)
    is_unpaid = status == 402 or meaning_of(text) == "unpaid"
    advice = {
        "denied": CREDIT_ADVICE if is_unpaid else KEY_ADVICE if has_key else NO_KEY_ADVICE,
        "unknown": " Are the model's name and the address correct?",
        "overflow": " The prompt is longer than the model's context.",
    }.get(kind, "")
    if status in {404, 405} and not _VERSIONED.search(url):
        advice += " Most addresses end with /v1: try adding it."
    wait = wait_of(headers, content)
    if wait == LONGEST_WAIT:
        advice += " It asks to wait for a minute or longer."
    stop = "." if advice and text[-1] not in ".!?" else ""
    return CallError(
        f"{url}: {label.format(status=status)}: {text}{stop}{advice}",
        kind=kind,
        status=status,
        retry_after=wait,
        words=content[:LONGEST_REFUSAL].decode("utf-8", "replace"),
        may_be_billed=status in GIVEN_UP_ON,
    )


def words_of(content: bytes) -> str:
    """Return an endpoint's own error message; a page of HTML is cut to its beginning.

    Providers put it at `error.message`, `error`, `message` or `detail`, Google in a list of one
    item. FastAPI adds the locations of invalid values. OpenRouter passes on another provider's
    error at `error.metadata.raw`, as text.
    """
    try:
        text = " ".join(_words(json.loads(content)))
    except (ValueError, RecursionError):
        text = ""
    text = text or content[:200].decode("utf-8", "replace")
    return " ".join(text.split())[:LONGEST] or "no explanation"


def wait_of(headers: Mapping[str, str], content: bytes) -> float | None:
    """Return the seconds that an endpoint asks to wait, from its header or its body.

    Google sends no header but a `retryDelay` in the error's details
    (https://ai.google.dev/gemini-api/docs/troubleshooting).
    """
    fields = {name.lower(): value for name, value in headers.items()}
    waits = _milliseconds(fields.get("retry-after-ms"))
    waits = retry_after(fields.get("retry-after")) if waits is None else waits
    return _delay(content) if waits is None else waits


def failed(
    url: str,
    failure: Mapping[str, Any],
    headers: Mapping[str, str],
    *,
    has_key: bool = True,
    began: bool = False,
) -> CallError:
    """Return the error that an endpoint reports with status 200.

    Args:
        failure: The result of `answer.failure_in`.
        began: Whether a part of an answer came before it.
    """
    content = json.dumps({"error": failure}).encode()
    status = _status(failure)
    error = refusal(url, status, headers, content, has_key=has_key, label=IN_PLACE)
    error.may_be_billed = began
    error.has_ended = True
    return error


def _status(failure: Mapping[str, Any]) -> int:
    """Return the equivalent status of a failure sent in place of an answer."""
    for name in ("code", "http_code", "status", "type"):
        word = failure.get(name)
        if (place := place_of(word)) is not None and 400 <= place < 600:
            return place
        if isinstance(word, str) and (status := _status_of(word.lower())):
            return status
    return 400 if meaning_of(words_of(json.dumps(failure).encode())) else 500


def _status_of(code: str) -> int | None:
    return 400 if code.startswith(INVALID) else STATUS_OF.get(code)


def _milliseconds(header: str | None) -> float | None:
    """Read the header by which OpenAI's endpoints ask to wait for less than a second."""
    try:
        return retry_after(None if header is None else str(float(header) / 1000))
    except ValueError:
        return None


def _words(body: Any) -> Iterator[str]:
    if is_list(body):
        for item in body:
            yield from _words(item)
    elif is_mapping(body):
        fields = cast("Mapping[str, Any]", body)
        for key in WORDED:
            yield from _words(fields.get(key))
    elif isinstance(body, str):
        yield from _words(inner) if (inner := _wrapped(body)) else (body,)


def _wrapped(text: str) -> Any:
    """Return another provider's error that a gateway passes on as text; None without one."""
    try:
        return json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None


def _delay(content: bytes) -> float | None:
    """Read the wait from an error's body: Google's detail, or a field of the error."""
    try:
        body: Any = json.loads(content)
        error = (body[0] if is_list(body) else body)["error"]
        if is_mapping(error.get("metadata")):
            error = {**error["metadata"], **error}
        report = [detail.get("retryDelay") for detail in error.get("details") or ()]
        matches = (_SECONDS.fullmatch(str(delay)) for delay in report)
        delay = next((match[1] for match in matches if match), None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    waits = (delay, error.get("retry_after"), error.get("retry_after_seconds"))
    return next((retry_after(str(wait)) for wait in waits if wait is not None), None)
