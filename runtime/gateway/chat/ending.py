"""The one place that interprets why an answer ended, for every API, streamed or not.

An answer that consists of thinking only is no answer: the model is asked again.
"""

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
ONLY_THINKING = "it is thinking only. Think less, and write the answer after it."
"""The message to a model that thought and did not answer."""
LONGEST_WRITTEN = 500
"""The most characters of a call's arguments that its model is shown again."""
CUT_OFF = frozenset({"content_filter", "filtered", "length"})
CHAT_WORDS = frozenset({"content_filter", "length", "stop", "tool_calls"})
_MEANINGS = {word: means for means, words in FINISH_WORDS.items() for word in words}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def is_said(word: object) -> bool:
    """Return whether a finish word reports an end, good or bad."""
    return word is not None and meaning(str(word)) != "unsaid"


def outweighs(word: object, before: object) -> bool:
    """Return whether a finish word replaces an earlier one.

    An answer that was cut or failed does not become complete by a later word.
    """
    is_whole = before is None or meaning(str(before)) in {"stop", "tool_calls"}
    return is_said(word) and is_whole


def is_cut_off(word: object) -> bool:
    """Return whether a finish word means that the answer is incomplete."""
    return isinstance(word, str) and meaning(word) in CUT_OFF


@functools.lru_cache(maxsize=64)
def meaning(word: str) -> str:
    """Return the meaning of a finish word in `FINISH_WORDS`; empty if unknown."""
    bare = _HUMP.sub("_", word.strip().rpartition(".")[2])
    return _MEANINGS.get(bare.lower().replace("-", "_").replace(" ", "_"), "")


def only_thinks(answer: ChatAnswer) -> bool:
    """Return whether a model thought, but neither wrote an answer nor called a tool."""
    return bool(answer.thinking and not answer.text.strip() and not answer.tool_calls)


def why_only_thinking(answer: ChatAnswer, max_tokens: int) -> str:
    """Return why an answer is thinking only, and what to write in the team file; else ""."""
    if not only_thinks(answer):
        return ""
    if answer.finish_reason == "length":
        return (
            f"the model spent all of its max_tokens ({max_tokens}) on thinking and left none for"
            " an answer. Raise max_tokens."
        )
    return f"the model only thought and did not answer (finish reason {answer.finish_reason!r})."


def reason_of(word: object, *, calls: bool) -> str:
    """Return why an answer ended, in the chat API's word if it has one.

    Args:
        word: The endpoint's word; None if the answer ended without one.
    """
    text = "" if word is None else str(word)
    means = meaning(text)
    if means == "unsaid":
        return "tool_calls" if calls else "stop"
    return means if means in CHAT_WORDS else text


def failure_of(answer: ChatAnswer, source: str) -> CallError | None:
    """Return the error of an answer that ended neither complete nor cut; None if it did."""
    means = meaning(answer.finish_reason)
    if means and means != "failed":
        return None
    unknown = "" if means else ", an unknown finish reason"
    return CallError(
        f"{source}: the answer ended with {answer.finish_reason!r}{unknown}.",
        kind="down" if means else "malformed",
        has_ended=True,
        again=_again(answer) if answer.tool_calls else (),
    )


def _again(answer: ChatAnswer) -> Sequence[Message]:
    """Return the messages that show a model its failed tool calls."""
    problem = f"your answer ended with {answer.finish_reason!r} in its calls. {NO_EFFECT}"
    return (
        {"role": "assistant", "content": as_written(answer)},
        {"role": "user", "content": f"Error: {problem} Answer again."},
    )


def as_written(answer: ChatAnswer) -> str:
    """Return an answer as text, with its tool calls as the model wrote them."""
    calls = (f"{call.name} {call.arguments[:LONGEST_WRITTEN]}" for call in answer.tool_calls)
    return "\n".join(filter(None, (answer.text, *calls)))
