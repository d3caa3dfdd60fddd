"""Why an endpoint refused a request, by its status and its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..scrubber import SHORTEST
from .complaint import wait_of, words_of
from .errors import GIVEN_UP_ON, CallError, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["refusal", "without"]

LONGEST_REFUSAL = 8_000
"""Bytes of a refusal that are read for what was refused."""
KEY_ADVICE = " Is the key right, and is it meant for this endpoint?"
NO_KEY_ADVICE = " No key was sent: set MAS_API_KEY for NAME@URL, or say key_env in models.yaml."


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
    return CallError(
        f"{url}: HTTP {status}: {said}{advice}",
        kind=kind,
        status=status,
        retry_after=wait_of(headers, content),
        words=content[:LONGEST_REFUSAL].decode("utf-8", "replace"),
        may_be_billed=status in GIVEN_UP_ON,
    )
