"""The one gate for how an answer ended, whichever API it came by, whole or in pieces."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from .errors import CallError
from .provider_words import FINISH_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import ChatAnswer, Message

NO_EFFECT = "Nothing was executed."
LONGEST_WRITTEN = 500
"""Characters of a call's arguments that its model is shown again."""
CUT_OFF = frozenset({"content_filter", "filtered", "length"})
CHAT_WORDS = frozenset({"content_filter", "length", "stop", "tool_calls"})
_MEANINGS = {word.word: word.means for word in FINISH_WORDS}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def is_said(word: object) -> bool:
    """Return whether a word says that an answer ended, well or badly."""
    return word is not None and meaning(str(word)) != "unsaid"


def outweighs(word: object, before: object) -> bool:
    """Return whether a word counts where an endpoint said another before it.

    What was cut, or failed, does not become whole by a later word.
    """
    is_whole = before is None or meaning(str(before)) in {"stop", "tool_calls"}
    return is_said(word) and is_whole


def is_cut_off(word: object) -> bool:
    """Return whether an answer that ended so is less than the model had to say."""
    return isinstance(word, str) and meaning(word) in CUT_OFF


@functools.lru_cache(maxsize=64)
def meaning(word: str) -> str:
    """Return what a finish word means by `FINISH_WORDS`; nothing where it is unknown."""
    bare = _HUMP.sub("_", word.strip().rpartition(".")[2])
    return _MEANINGS.get(bare.lower().replace("-", "_").replace(" ", "_"), "")


def reason_of(word: object, *, calls: bool) -> str:
    """Return why an answer ended, in the chat API's word where that has one for it.

    Args:
        word: The endpoint's word; an answer that ended may be without.
    """
    text = "" if word is None else str(word)
    means = meaning(text)
    if means == "unsaid":
        return "tool_calls" if calls else "stop"
    return means if means in CHAT_WORDS else text


def failure_of(answer: ChatAnswer, source: str) -> CallError | None:
    """Return why an answer is none, where its endpoint did not end it as a whole or cut one."""
    means = meaning(answer.finish_reason)
    if means and means != "failed":
        return None
    unknown = "" if means else ", a word that is not known to be good"
    return CallError(
        f"{source}: the answer ended with {answer.finish_reason!r}{unknown}.",
        kind="down" if means else "malformed",
        has_ended=True,
        again=_again(answer) if answer.tool_calls else (),
    )


def _again(answer: ChatAnswer) -> Sequence[Message]:
    """Return what a model is shown whose answer failed in its calls of tools."""
    problem = f"your answer ended with {answer.finish_reason!r} in its calls. {NO_EFFECT}"
    return (
        {"role": "assistant", "content": as_written(answer)},
        {"role": "user", "content": f"Error: {problem} Answer again."},
    )


def as_written(answer: ChatAnswer) -> str:
    """Return an answer as text, with its calls as the model wrote them."""
    calls = (f"{call.name} {call.arguments[:LONGEST_WRITTEN]}" for call in answer.tool_calls)
    return "\n".join(filter(None, (answer.text, *calls)))
