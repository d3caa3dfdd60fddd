"""Why an endpoint refused a request, by its status and words, and how long it asks to wait."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ....schema.values.values import is_list, is_mapping
from ...scrubbing.scrubber import SHORTEST
from ..chat.errors import GIVEN_UP_ON, CallError, kind_of
from ..retry import retry_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["refusal", "wait_of", "without", "words_of"]

LONGEST = 500
"""Characters of an endpoint's words that are shown."""
LONGEST_REFUSAL = 8_000
"""Bytes of a refusal that are read for what was refused."""
KEY_ADVICE = " Is the key right, and is it meant for this endpoint?"
NO_KEY_ADVICE = " No key was sent: set MAS_API_KEY for NAME@URL, or say key_env in models.yaml."


_VERSIONED = re.compile(r"/v\d|/deployments/|api-version=")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


def without(secrets: Iterable[str], content: bytes) -> bytes:
    """Take out what was sent in secret, before a cut could leave a part of it."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            content = content.replace(secret.encode(), b"[secret]")
    return content


def refusal(
    url: str, status: int, headers: Mapping[str, str], content: bytes, *, has_key: bool = True
) -> CallError:
    """Tell why a request was refused.

    Args:
        url: Where it was sent.
        status: The HTTP status.
        headers: Those of the response.
        content: Its body, without secrets.
        has_key: Whether a key was sent.
    """
    said = words_of(content)
    kind = kind_of(status, said)
    advice = {
        "denied": KEY_ADVICE if has_key else NO_KEY_ADVICE,
        "unknown": " Are the model's name and the address right?",
        "overflow": " The prompt is longer than the model's context.",
    }.get(kind, "")
    if status in {404, 405} and not _VERSIONED.search(url):
        advice += " Most addresses end with /v1: add /v1 to this one."
    return CallError(
        f"{url}: HTTP {status}: {said}{advice}",
        kind=kind,
        status=status,
        retry_after=wait_of(headers, content),
        words=content[:LONGEST_REFUSAL].decode("utf-8", "replace"),
        may_be_billed=status in GIVEN_UP_ON,
    )


def words_of(content: bytes) -> str:
    """Find an endpoint's own words; a page of HTML is cut to its beginning.

    Providers put them at `error.message`, `error`, `message` or `detail`, Google's in a list of
    one, and what FastAPI refuses is told by its places.
    """
    try:
        said = " ".join(_words(json.loads(content)))
    except (ValueError, RecursionError):
        said = ""
    said = said or content[:200].decode("utf-8", "replace")
    return " ".join(said.split())[:LONGEST] or "no explanation"


def wait_of(headers: Mapping[str, str], content: bytes) -> float | None:
    """Give the seconds that an endpoint asks to wait, by its header or by what it says.

    Google has no header but a `retryDelay` in the error's details
    (https://ai.google.dev/gemini-api/docs/troubleshooting).
    """
    waits = retry_after(headers.get("Retry-After"))
    return _delay(content) if waits is None else waits


def _words(body: Any) -> Iterator[str]:
    if is_list(body):
        for one in body:
            yield from _words(one)
    elif is_mapping(body):
        told = cast("Mapping[str, Any]", body)
        for key in ("error", "message", "msg", "detail", "loc", "type", "code"):
            yield from _words(told.get(key))
    elif isinstance(body, str):
        yield body


def _delay(content: bytes) -> float | None:
    try:
        body: Any = json.loads(content)
        details = (body[0] if is_list(body) else body)["error"]["details"]
        found = (_SECONDS.fullmatch(str(detail.get("retryDelay"))) for detail in details)
        delay = next(match for match in found if match)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration):
        return None
    return retry_after(delay[1])
