"""What an endpoint says with an error: its words, and how long it asks to wait."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ...schema.values import is_list, is_mapping
from .retry import retry_after

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["wait_of", "words_of"]

LONGEST = 500
"""Characters of an endpoint's words that are shown."""
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


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
        found = (_SECONDS.fullmatch(str(one.get("retryDelay"))) for one in details)
        delay = next(match for match in found if match)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration):
        return None
    return retry_after(delay[1])
