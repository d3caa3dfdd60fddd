"""Thinking aloud, split from the answer.

A model thinks in a field of its own, in parts of its content, or in its text between signs that its
chat template has for it. An endpoint splits the last kind off only where it was set up to do so.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ....schema.values.values import is_list, is_mapping
from .text import sound, text_of

FIELDS = (
    "reasoning_items",
    "thinking_blocks",
    "reasoning_details",
    "reasoning_content",
    "reasoning",
)
"""Fields of a message with thinking. Where there are several they say the same, and what is given
back is the first: it is signed, or is what the endpoint documents.

* `reasoning_items`: OpenAI's Responses API (developers.openai.com/api/docs/guides/reasoning).
* `thinking_blocks`: Anthropic's, as litellm names them (docs.litellm.ai/docs/reasoning_content).
* `reasoning_details`: openrouter.ai/docs/guides/best-practices/reasoning-tokens.
* `reasoning_content`: api-docs.deepseek.com/guides/thinking_mode, and who followed it.
* `reasoning`: OpenRouter, Groq, Cerebras, Ollama and vLLM.
"""

_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Types of parts of a content that are thinking (docs.mistral.ai/capabilities/reasoning)."""
_WRAPPED = ("thinking", "text", "summary", "content")
"""Where the text of a part, a block or an item is."""


class _Signs(NamedTuple):
    """Between which signs a model thinks: patterns of how thinking begins and ends.

    Attributes:
        closing: How it ends, and what leads over to the answer.
        alone: Whether a chat template may hold the opening already, so that only the end comes.
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
"""How the signs begin. Most texts begin with none of the first, and have none of the others: they
need no search."""
_MOST = 30
"""Signs that are looked at, so that a hostile text of megabytes is soon read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThinkingSplit:
    """A text in the parts that it consists of.

    Attributes:
        pieces: The whole text in order: what each piece is (`thinking`, `answer`, or `sign`), and
            the piece. Together they are the text.
        is_open: Whether the text ends within thinking.
    """

    pieces: tuple[tuple[str, str], ...]
    is_open: bool = False

    @property
    def thinking(self) -> str:
        """What was thought."""
        return "\n\n".join(filter(None, (text.strip() for text in self._of("thinking"))))

    @property
    def answer(self) -> str:
        """What was answered; empty where there is only thinking."""
        return "".join(self._of("answer"))

    def _of(self, kind: str) -> Iterator[str]:
        return (text for piece, text in self.pieces if piece == kind)


class Thought(NamedTuple):
    """A message as its answer, and what was thought ahead of it.

    Attributes:
        thinking: What was thought; empty where nothing is told.
        fields: What the endpoint wants back within a tool loop, as fields of the message.
    """

    text: str
    thinking: str
    fields: Mapping[str, Any]


def thought_of(message: Mapping[str, Any]) -> Thought:
    """Split a message of the chat API, which may be of any shape."""
    content: Any = message.get("content")
    fields = {name: message[name] for name in FIELDS if name in message and _is_told(message[name])}
    if not fields and isinstance(content, str) and not _may_hold_signs(content):
        return Thought(sound(content), "", {})
    text = next(filter(None, (_flat(fields[name]) for name in fields)), "")
    parts = "\n\n".join(filter(None, map(_flat, filter(_is_thinking, _listed(content)))))
    result = split(_visible_text(content), alone=not (text or parts))
    # Some say the same twice, in a field and in tags.
    each = dict.fromkeys(word.strip() for word in (text, parts, result.thinking))
    thinking = sound("\n\n".join(filter(None, each)))
    if fields:
        name = next((field for field in fields if fields[field]), next(iter(fields)))
        return Thought(result.answer, thinking, {name: fields[name]})
    return Thought(result.answer, thinking, {"content": content} if thinking else {})


def split(text: str, *, alone: bool = True) -> ThinkingSplit:
    """Split thinking from the answer that follows it.

    A text thinks only where it begins with it: what an answer says of such signs stays. A chat
    template may hold the opening sign, so that a text has only the closing one: what is ahead of it
    is thinking, unless it is quoted or in code, or is spoken of within a line.

    Args:
        alone: Whether a closing sign without an opening one counts.
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
    """Find thinking that a text begins with: where it begins and ends, and where its sign does."""
    for opening, closing in _SIGNS_READ:
        if begun := opening.match(text):
            ended = closing.search(text, begun.end())
            return (begun.end(), *ended.span()) if ended else (begun.end(), None, len(text))
    return None


def _closed_alone(text: str) -> tuple[int, int | None, int] | None:
    """Find thinking whose opening sign is not in the text."""
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
    """Find where an answer ends that has a sign for its end, or several."""
    end = None
    for _ in range(_MOST):
        words = text[:end].rstrip()
        sign = next((word for word in _ENDS if words.endswith(word)), None)
        if sign is None:
            break
        end = len(words[: -len(sign)].rstrip())
    return end


def _is_spoken_of(ahead: str, after: str) -> bool:
    """Return whether a text speaks of a sign: quotes it, has it in code, or goes on around it."""
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
    """Return whether a field says something. An empty text does: DeepSeek wants that back, too."""
    return isinstance(value, str) or bool(value and (is_list(value) or is_mapping(value)))


def _is_thinking(part: Any) -> bool:
    return is_mapping(part) and part.get("type") in _PARTS


def _listed(content: Any) -> list[Any]:
    return content if is_list(content) else []


def _visible_text(content: Any) -> str:
    """Return the text of a content, without parts that are thinking."""
    if is_list(content):
        return text_of([part for part in content if not _is_thinking(part)])
    return text_of(content)


def _flat(value: Any) -> str:
    """Return the text of thinking, whatever it is wrapped in."""
    if isinstance(value, str):
        return value
    if is_list(value):
        return "\n".join(filter(None, map(_flat, value)))
    if is_mapping(value):
        return next(filter(None, (_flat(value.get(name)) for name in _WRAPPED)), "")
    return ""
