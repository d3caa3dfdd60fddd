"""Assemble the events of a streamed answer of the Messages API into the whole answer.

platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....schema.values.values import is_mapping
from ..chat.ending import is_said
from ..chat.messages import place_of

GROWING: Mapping[str, str] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""For each type of piece, its field, which is also the field of the block that it extends."""
WORDS = frozenset({"text", "thinking"})


class AnthropicAssembly:
    """Assembles one message; see `Assembly`."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._has_stopped = False
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the model has sent its stop reason."""
        return self._has_stopped or is_said(self._message.get("stop_reason"))

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event; see `Assembly.add`."""
        place = place_of(event.get("index")) or 0
        match event.get("type"), event:
            case "message_start", {"message": message} if is_mapping(message):
                self._say(message, message.get("usage"))
            case "message_delta", _:
                self._say(event.get("delta"), event.get("usage"))
            case "message_stop", _:
                self._has_stopped = True
            case "content_block_start", {"content_block": block} if is_mapping(block):
                self._blocks[place] = dict(block)
            case "content_block_delta", {"delta": delta} if is_mapping(delta):
                return self._grow(place, delta)
            case _:
                pass
        return ""

    def body(self) -> Mapping[str, Any]:
        """Return the message; see `Assembly.body`."""
        content = [self._whole(place) for place in sorted(self._blocks)]
        return {**self._message, "content": content, "usage": self._usage}

    def _say(self, message: Any, usage: Any) -> None:
        """Update the message's fields; its token counts are cumulative."""
        for fields, now in ((self._message, message), (self._usage, usage)):
            if is_mapping(now):
                fields |= {name: item for name, item in now.items() if item is not None}

    def _grow(self, place: int, delta: Mapping[str, Any]) -> str:
        name = GROWING.get(str(delta.get("type")), "")
        piece = delta.get(name)
        if not isinstance(piece, str):
            return ""
        self._blocks.setdefault(place, {"type": "text", "text": ""})
        self._pieces.setdefault(place, {}).setdefault(name, []).append(piece)
        return piece if name in WORDS else ""

    def _whole(self, place: int) -> dict[str, Any]:
        pieces = self._pieces.get(place, {})
        grown = {name: "".join(all_) for name, all_ in pieces.items()}
        block = self._blocks[place]
        arguments = grown.pop("partial_json", "")
        fields = {name: f"{block.get(name) or ''}{text}" for name, text in grown.items()}
        return {**block, **fields, **({"input": _parsed(arguments)} if arguments else {})}


def _parsed(arguments: str) -> Any:
    """Parse a tool's input; text that was cut off stays unchanged."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
