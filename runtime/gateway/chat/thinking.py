"""Split a model's visible thinking from its answer.

Thinking arrives in a field of its own, in parts of the content, or in the text between the tags of
the model's chat template. An endpoint splits off the last kind only if configured to.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ....schema.values.values import is_list, is_mapping
from .messages import sound, text_of

FIELDS = (
    "reasoning_items",
    "thinking_blocks",
    "reasoning_details",
    "reasoning_content",
    "reasoning",
)
"""Fields of a message that hold thinking. If there are several, they hold the same; the first is
given back, because it is signed or is the one that the endpoint documents.

* `reasoning_items`: OpenAI's Responses API (developers.openai.com/api/docs/guides/reasoning).
* `thinking_blocks`: Anthropic's, as litellm names them (docs.litellm.ai/docs/reasoning_content).
* `reasoning_details`: openrouter.ai/docs/guides/best-practices/reasoning-tokens.
* `reasoning_content`: api-docs.deepseek.com/guides/thinking_mode, and its imitators.
* `reasoning`: OpenRouter, Groq, Cerebras, Ollama and vLLM."""

_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Types of content parts that hold thinking (docs.mistral.ai/capabilities/reasoning)."""
_WRAPPED = ("thinking", "text", "summary", "content")
"""Keys that hold the text of a part, a block or an item."""


class _Signs(NamedTuple):
    """Patterns of the tags around a model's thinking.

    Attributes:
        closing: The closing tag, and the tags that introduce the answer.
        alone: Whether a chat template may hold the opening tag, so that only the closing one
            arrives.
    """

    opening: str
    closing: str
    alone: bool = True


_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")

_SIGNS = (
    *(_Signs(f"<{tag}>", f"</{tag}>") for tag in _TAGS),
    _Signs(r"\[THINK\]", r"\[/THINK\]"),
    _Signs("◁think▷", "◁/think▷"),
    _Signs(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>\s*(?:<\|begin_of_solution\|>)?"),
    _Signs(r"<\|START_THINKING\|>", r"<\|END_THINKING\|>\s*(?:<\|START_RESPONSE\|>)?"),
    _Signs(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    _Signs(
        r"<\|channel\|>analysis<\|message\|>",
        r"<\|end\|>\s*(?:<\|start\|>assistant)?\s*(?:<\|channel\|>final)?(?:<\|message\|>)?",
        alone=False,
    ),
)

_SIGNS_READ = [
    (re.compile(rf"\s*{sign.opening}", re.I), re.compile(rf"{sign.closing}\s*", re.I))
    for sign in _SIGNS
]
_ALONE = re.compile(
    rf"(?P<sign>{'|'.join(sign.closing for sign in _SIGNS if sign.alone)})\s*", re.I
)
_ANY_OPENING = re.compile("|".join(sign.opening for sign in _SIGNS), re.I)
_MID_SENTENCE = re.compile(r"[^\s.!?:;)}\]][ \t]+\Z|['(\u00ab\u201c\u2018]\Z")
_ENDS = ("<|end_of_solution|>", "<|END_RESPONSE|>", "<|return|>")
_OPENING = ("<", "[", "◁")
_CLOSING = ("</", "[/", "◁/", "<|")
"""How tags begin. Most texts start with none of `_OPENING` and contain none of these, so they need
no search."""
_MOST = 30
"""The most tags to inspect, which bounds the time for a hostile text of megabytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThinkingSplit:
    """A text split into thinking, answer and tags.

    Attributes:
        pieces: The kind of each piece (`thinking`, `answer`, or `sign`) and its text, in order.
            Joined, the texts are the whole text.
        is_open: Whether the text ends within thinking.
    """

    pieces: tuple[tuple[str, str], ...]
    is_open: bool = False

    @property
    def thinking(self) -> str:
        """The thinking, without its tags."""
        return "\n\n".join(filter(None, (text.strip() for text in self._of("thinking"))))

    @property
    def answer(self) -> str:
        """The answer; empty if there is only thinking."""
        return "".join(self._of("answer"))

    def _of(self, kind: str) -> Iterator[str]:
        return (text for piece, text in self.pieces if piece == kind)


class Thought(NamedTuple):
    """A message split into its answer and the thinking before it.

    Attributes:
        thinking: The thinking; empty if none is shown.
        kept: Fields of the message that the endpoint requires back within a tool loop.
    """

    text: str
    thinking: str
    fields: Mapping[str, Any]


def thought_of(message: Mapping[str, Any]) -> Thought:
    """Split a chat API message, of any shape, into thinking and answer."""
    content: Any = message.get("content")
    fields = {name: message[name] for name in FIELDS if name in message and _is_told(message[name])}
    if not fields and isinstance(content, str) and not _may_hold_signs(content):
        return Thought(sound(content), "", {})
    text = next(filter(None, (_flat(fields[name]) for name in fields)), "")
    listed = content if is_list(content) else []
    parts = "\n\n".join(filter(None, map(_flat, filter(_is_thinking, listed))))
    result = split(_visible_text(content), alone=not (text or parts))
    # Some endpoints send the same text twice, in a field and in tags.
    each = dict.fromkeys(word.strip() for word in (text, parts, result.thinking))
    thinking = sound("\n\n".join(filter(None, each)))
    if fields:
        name = next((field for field in fields if fields[field]), next(iter(fields)))
        return Thought(result.answer, thinking, {name: fields[name]})
    return Thought(result.answer, thinking, {"content": content} if thinking else {})


def split(text: str, *, alone: bool = True) -> ThinkingSplit:
    """Split thinking from the answer that follows it.

    Only thinking at the beginning of a text counts: tags that the answer mentions stay in the
    answer. If a chat template holds the opening tag, the text has only the closing one. All text
    before it is then thinking, unless the tag is quoted, in code, or mentioned within a sentence.

    Args:
        alone: Whether a closing tag counts without an opening one.
    """
    if not _may_hold_signs(text):
        return ThinkingSplit(pieces=_filled(("answer", text)))
    pieces: list[tuple[str, str]] = []
    ending: list[tuple[str, str]] = []
    for _ in range(_MOST):
        if begun := _begun(text) or (_closed_alone(text) if alone else None):
            start, end, over = begun
            stop = len(text) if end is None else end
            pieces += [("sign", text[:start]), ("thinking", text[start:stop])]
            if end is None:
                return ThinkingSplit(pieces=_filled(*pieces, *ending), is_open=True)
            pieces.append(("sign", text[end:over]))
            text = text[over:]
        elif pieces and not ending and (end := _solved(text)) is not None:
            ending.append(("sign", text[end:]))
            text = text[:end]
        else:
            break
    return ThinkingSplit(pieces=_filled(*pieces, ("answer", text), *ending))


def _may_hold_signs(text: str) -> bool:
    return text.lstrip().startswith(_OPENING) or any(word in text for word in _CLOSING)


def _begun(text: str) -> tuple[int, int | None, int] | None:
    """Return start and end of thinking at a text's beginning, and the end of its closing tag."""
    for opening, closing in _SIGNS_READ:
        if begun := opening.match(text):
            ended = closing.search(text, begun.end())
            return (begun.end(), *ended.span()) if ended else (begun.end(), None, len(text))
    return None


def _closed_alone(text: str) -> tuple[int, int | None, int] | None:
    """Return the same for thinking whose opening tag is not in the text."""
    closings = [*itertools.islice(_ALONE.finditer(text), _MOST)]
    if not closings or _is_json(text):
        return None
    opening = _ANY_OPENING.search(text, 0, closings[-1].start())
    for closing in closings:
        if opening and opening.start() < closing.start():
            return None
        if not _is_spoken_of(text[: closing.start()], text[closing.end("sign") :][:1]):
            return 0, *closing.span()
    return None


def _solved(text: str) -> int | None:
    """Return where an answer ends, without its closing tags; None if it has none."""
    end = None
    for _ in range(_MOST):
        words = text[:end].rstrip()
        sign = next((word for word in _ENDS if words.endswith(word)), None)
        if sign is None:
            break
        end = len(words[: -len(sign)].rstrip())
    return end


def _is_spoken_of(ahead: str, after: str) -> bool:
    """Return whether a text merely mentions a tag: in quotes, in code, or within a sentence."""
    line = ahead.rpartition("\n")[2]
    if ahead.count("```") % 2 or line.count("`") % 2 or line.count('"') % 2:
        return True
    return bool(_MID_SENTENCE.search(line)) and after not in {"", "\r", "\n"}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _filled(*pieces: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(piece for piece in pieces if piece[1])


def _is_told(value: Any) -> bool:
    """Return whether a field has a value. An empty text counts: DeepSeek requires it back, too."""
    return isinstance(value, str) or bool(value and (is_list(value) or is_mapping(value)))


def _is_thinking(part: Any) -> bool:
    return is_mapping(part) and part.get("type") in _PARTS


def _visible_text(content: Any) -> str:
    """Return the text of a content without its thinking parts."""
    if is_list(content):
        return text_of([part for part in content if not _is_thinking(part)])
    return text_of(content)


def _flat(value: Any) -> str:
    """Return the text of thinking, however it is nested."""
    if isinstance(value, str):
        return value
    if is_list(value):
        return "\n".join(filter(None, map(_flat, value)))
    if is_mapping(value):
        return next(filter(None, (_flat(value.get(name)) for name in _WRAPPED)), "")
    return ""
