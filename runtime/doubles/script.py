"""Choose the reply to a request: a constant, a list in order, the first match, or a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from .reply import Reply

Request = Mapping[str, Any]
"""The JSON body of a chat request."""

Chooser = Callable[[Request], Reply]

Replies = (
    str
    | Reply
    | Iterable[str | Reply]
    | Mapping[str | re.Pattern[str], "Replies"]
    | Callable[[Request], str | Reply]
)
"""The forms of a script.

* A text or a `Reply`: always this.
* An iterable of them: one per call, in the order in which the calls arrive.
* A mapping: the first key that occurs in the request's messages, as text or as a compiled
  pattern, decides; its value is again any of these. The key `""` occurs in every request.
* A function of the request. It runs on the server's thread: it must not block."""


def choose_from(replies: Replies) -> Chooser:
    """Return the function from a request to its reply.

    Raises:
        TypeError: `replies` is not a valid script.
    """
    match replies:
        case str() | Reply():
            reply = _as_reply(replies)
            return lambda _request: reply
        case Mapping():
            return _FirstMatch(cast("Mapping[str | re.Pattern[str], Replies]", replies))
        case Iterable():
            return _InOrder(replies)
        case _ if callable(replies):
            return lambda request: _as_reply(replies(request))
        case _:
            raise TypeError(
                f"a script is text, a Reply, a list, a mapping or a function, not {replies!r}"
            )


def message_text(request: Request) -> str:
    """Return all text of a request's messages, one message after another, split by newlines."""
    return "\n".join(_content_text(message.get("content")) for message in request["messages"])


class _InOrder:
    def __init__(self, replies: Iterable[str | Reply]) -> None:
        self._remaining = iter(replies)
        self._count = 0

    def __call__(self, request: Request) -> Reply:
        for reply in self._remaining:
            self._count += 1
            return _as_reply(reply)
        return _unscripted(request, f"its list ended after {self._count}")


class _FirstMatch:
    def __init__(self, choices: Mapping[str | re.Pattern[str], Replies]) -> None:
        self._choosers = [(key, choose_from(replies)) for key, replies in choices.items()]

    def __call__(self, request: Request) -> Reply:
        text = message_text(request)
        for key, choose in self._choosers:
            if key in text if isinstance(key, str) else key.search(text):
                return choose(request)
        keys = ", ".join(repr(_key_text(key)) for key, _ in self._choosers)
        return _unscripted(request, f"its messages contain none of {keys}")


def _as_reply(reply: object) -> Reply:
    match reply:
        case str():
            return Reply(text=reply)
        case Reply():
            return reply
        case _:
            raise TypeError(f"a reply is text or a Reply, not {reply!r}")


def _unscripted(request: Request, reason: str) -> Reply:
    ending = message_text(request)[-80:]
    message = f"The script has no reply for the call that ends with {ending!r}: {reason}."
    # The OpenAI client would otherwise ask twice more and hide the reason behind a delay.
    return Reply.error(500, message=message, code="unscripted_call").replace(
        headers={"x-should-retry": "false"}
    )


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    return "\n".join(filter(None, map(_part_text, parts)))


def _part_text(part: object) -> str:
    match part:
        case {"text": str() as text}:
            return text
        case _:
            return ""


def _key_text(key: str | re.Pattern[str]) -> str:
    return key if isinstance(key, str) else key.pattern
