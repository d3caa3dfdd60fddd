"""Assemble the chunks of a chat completion into the whole completion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from ....schema.values.values import is_list, is_mapping
from ...values.bounds import MOST_TOOL_CALLS
from ..chat.ending import outweighs
from ..chat.messages import place_of

TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
"""The text fields of a delta."""
GROWING = frozenset({"text", "summary", "thinking", "arguments", "content"})
"""Fields of a streamed part that pieces extend; all other fields arrive once."""
GOES_ON = GROWING | {"signature"}
"""Fields by which a piece continues an earlier part."""
MOST_OPEN = 64
"""The number of last parts of a message that pieces may continue."""
MOST_PIECES = 1_000
"""After so many pieces, a tool call's arguments are no longer checked for completeness."""
WHOLE = frozenset({"role", "name"})
"""Fields of a message that some endpoints repeat in each delta."""


class ChatAssembly:
    """Assembles one completion, from the first of several choices; see `Assembly`."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._usage: Mapping[str, Any] | None = None
        self._choices: dict[int, _Choice] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the model has sent its finish reason."""
        return bool(self._choices) and self._first.is_whole

    def add(self, event: Mapping[str, Any]) -> str:
        """Add a chunk; see `Assembly.add`."""
        for name, item in event.items():
            if item is not None and name not in {"choices", "object", "usage"}:
                self._message[name] = item
        self._usage = _usage(event) or self._usage
        choices = event.get("choices")
        words = ""
        for choice in choices if is_list(choices) else ():
            if is_mapping(choice):
                words += self._add_choice(cast("Mapping[str, Any]", choice))
        return words

    def body(self) -> Mapping[str, Any]:
        """Return the completion; see `Assembly.body`."""
        choices = [self._first.whole()] if self._choices else []
        usage = {} if self._usage is None else {"usage": self._usage}
        return {**self._message, "object": "chat.completion", "choices": choices, **usage}

    @property
    def _first(self) -> _Choice:
        return self._choices[min(self._choices)]

    def _add_choice(self, choice: Mapping[str, Any]) -> str:
        place = place_of(choice.get("index")) or 0
        if place not in self._choices and len(self._choices) < MOST_OPEN:
            self._choices[place] = _Choice()
        words = self._choices[place].add(choice) if place in self._choices else ""
        return words if place == min(self._choices) else ""


class _Choice:
    def __init__(self) -> None:
        self._choice: dict[str, Any] = {"finish_reason": None}
        self._message: dict[str, Any] = {}
        self._pieces: dict[str, list[str]] = {}
        self._calls, self._former_call = _Calls(), _Calls()

    @property
    def is_whole(self) -> bool:
        return self._choice["finish_reason"] is not None

    def add(self, choice: Mapping[str, Any]) -> str:
        for name, item in choice.items():
            is_news = item is not None
            if name == "finish_reason":
                is_news = outweighs(item, self._choice[name])
            if is_news and name not in {"delta", "message"}:
                self._choice[name] = item
        delta = choice.get("delta") or choice.get("message")
        return self._add_delta(cast("Mapping[str, Any]", delta)) if is_mapping(delta) else ""

    def whole(self) -> dict[str, Any]:
        message = {**self._message, **{key: "".join(all_) for key, all_ in self._pieces.items()}}
        former = [call for call in self._former_call.whole() if call["function"].get("name")]
        if calls := self._calls.whole() or former:
            message["tool_calls"] = calls
        return {**self._choice, "index": 0, "message": message}

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        for name, item in delta.items():
            if name == "tool_calls":
                self._calls.add(item)
            elif name == "function_call":
                self._former_call.add([{"index": 0, "function": item}])
            elif is_list(item) or is_list(self._message.get(name)):
                self._add_parts(name, item)
            elif isinstance(item, str) and name not in WHOLE:
                self._pieces.setdefault(name, []).append(item)
            elif item is not None:
                self._message[name] = item
        for name in TEXTS:
            item = delta.get(name)
            if item and isinstance(item, str):
                return item
        return ""

    def _add_parts(self, name: str, item: Any) -> None:
        """Add content that arrives in parts: Mistral's models think in parts, then write text."""
        earlier = self._message.get(name)
        parts = self._message[name] = earlier if is_list(earlier) else []
        before = "".join(self._pieces.pop(name, ()))
        for entry in (before, item):
            if isinstance(entry, str):
                _add_parts(parts, [{"type": "text", "text": entry}] if entry else [])
            elif is_list(entry):
                _add_parts(parts, entry)


def _usage(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the usage in a chunk; Groq has a field of its own for it."""
    own = event.get("x_groq")
    report = event.get("usage") or (own.get("usage") if is_mapping(own) else None)
    return cast("Mapping[str, Any]", report) if is_mapping(report) else None


def _add_parts(parts: list[Any], more: list[Any]) -> None:
    """Add pieces of a message, such as signed thinking: each continues or begins a part."""
    for part in more:
        before = _continued(parts, part)
        if before is None:
            parts.append(dict(part) if is_mapping(part) else part)
        else:
            _write_on(before, part)


def _continued(parts: list[Any], part: Any) -> dict[str, Any] | None:
    """Return the part that a piece continues: that of its index, or else the last of its type."""
    if not is_mapping(part) or not GOES_ON & part.keys():
        return None
    place, kind = part.get("index"), part.get("type")
    for before in reversed(parts[-MOST_OPEN:]):
        if is_mapping(before) and before.get("index") == place and before.get("type") == kind:
            return before
        if place is None:
            return None
    return None


def _write_on(before: dict[str, Any], part: Mapping[str, Any]) -> None:
    for name, item in part.items():
        old = before.get(name)
        if name in GROWING and isinstance(old, str) and isinstance(item, str):
            before[name] = None  # with a single reference, CPython extends it in place
            old += item
            before[name] = old
        elif name in GROWING and is_list(old) and is_list(item):
            _add_parts(old, item)
        elif item is not None:
            before[name] = item


class _Calls:
    """The tool calls of one message.

    A call's pieces share its index. But some endpoints send no index, or 0 for every call. Some
    send no ids, or repeat the id and the name with every piece.
    """

    def __init__(self) -> None:
        self._calls: list[dict[str, Any]] = []
        self._places: dict[Any, dict[str, Any]] = {}

    def add(self, pieces: Any) -> None:
        for piece in pieces if is_list(pieces) else ():
            if is_mapping(piece):
                self._add(cast("Mapping[str, Any]", piece))

    def whole(self) -> list[dict[str, Any]]:
        return [{**call, "function": _whole(call["function"])} for call in self._calls]

    def _add(self, piece: Mapping[str, Any]) -> None:
        fields = piece.get("function")
        function = cast("Mapping[str, Any]", fields if is_mapping(fields) else {})
        call = self._call_of(piece, function)
        for name, item in piece.items():
            if item and name not in {"index", "function"}:
                call[name] = item
        written = call["function"]
        for name, item in function.items():
            if name == "arguments" and item is not None:  # its text, or an object of them all
                written[name].append(item)
            elif name != "arguments" and item:
                written[name] = _grown(written, name, item)

    def _call_of(self, piece: Mapping[str, Any], function: Mapping[str, Any]) -> dict[str, Any]:
        """Return the call that a piece belongs to; create it if necessary."""
        place, own = place_of(piece.get("index")), piece.get("id")
        if place is None:
            call = self._by_id(own) if own else self._last(function)
        else:
            call = self._places.get(place)
        if call is None or _is_another(call, own, function):
            call = {"function": {"arguments": []}}
            if len(self._calls) <= MOST_TOOL_CALLS:  # shows the excess
                self._calls.append(call)
        if place is not None:
            self._places[place] = call
        return call

    def _by_id(self, own: Any) -> dict[str, Any] | None:
        return next((call for call in self._calls if call.get("id") == own), None)

    def _last(self, function: Mapping[str, Any]) -> dict[str, Any] | None:
        return None if function.get("name") or not self._calls else self._calls[-1]


def _is_another(call: Mapping[str, Any], own: Any, function: Mapping[str, Any]) -> bool:
    """Return whether a piece with a call's index is a complete new call."""
    if not function.get("name"):
        return False
    if own and call.get("id"):
        return own != call["id"]
    return bool(function.get("arguments")) and _is_complete(call["function"]["arguments"])


def _is_complete(arguments: list[Any]) -> bool:
    if len(arguments) > MOST_PIECES:
        return False
    if not all(isinstance(piece, str) for piece in arguments):
        return True
    if not arguments or not arguments[-1].rstrip().endswith("}"):
        return False
    try:
        return is_mapping(json.loads("".join(arguments)))
    except (ValueError, RecursionError):
        return False


def _grown(written: Mapping[str, Any], name: str, item: Any) -> Any:
    """Return a field of a call, extended by one piece.

    A name arrives whole, whole again with each piece, or in pieces before the arguments.
    """
    before = written.get(name)
    if not isinstance(before, str) or not isinstance(item, str) or name != "name":
        return item
    return item if written["arguments"] or item.startswith(before) else before + item


def _whole(function: Mapping[str, Any]) -> dict[str, Any]:
    pieces = function["arguments"]
    is_text = all(isinstance(piece, str) for piece in pieces)
    return {**function, "arguments": "".join(pieces) if is_text else pieces[-1]}
