"""Assemble the events of a streamed answer of the Responses API into the whole answer.

developers.openai.com/api/reference/resources/responses/streaming-events
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....schema.values.values import is_mapping
from ..chat.messages import place_of

ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
WORDS = frozenset(
    f"response.{name}.delta"
    for name in ("output_text", "refusal", "reasoning_summary_text", "reasoning_text")
)
ARGUMENTS = "response.function_call_arguments.delta"


class ResponsesAssembly:
    """Assembles one response; see `Assembly`. Its last event usually contains all of it."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._begun: dict[int, list[str]] = {}
        self._is_whole = False

    @property
    def is_whole(self) -> bool:
        """Whether the response has ended, with or without success."""
        return self._is_whole

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event; see `Assembly.add`."""
        kind, place = str(event.get("type")), place_of(event.get("output_index"))
        if is_mapping(response := event.get("response")):
            self._response = response
            self._is_whole |= kind in ENDS
        elif is_mapping(item := event.get("item")) and place is not None:
            self._items[place] = item
            if kind == "response.output_item.done":
                self._begun.pop(place, None)
        elif isinstance(piece := event.get("delta"), str) and place is not None:
            if kind == ARGUMENTS or kind in WORDS:
                self._begun.setdefault(place, []).append(piece)
            return piece if kind in WORDS else ""
        return ""

    def body(self) -> Mapping[str, Any]:
        """Return the response; see `Assembly.body`."""
        # Some endpoints omit the output in the last event, or the last event itself.
        response = self._response
        if not self._is_whole:
            response = {name: item for name, item in response.items() if name != "status"}
        if response.get("output"):
            return response
        places = sorted({*self._items, *self._begun})
        return {**response, "output": [self._item(place) for place in places]}

    def _item(self, place: int) -> dict[str, Any]:
        """Return an item; if it was cut off, the part that was received."""
        item = self._items.get(place, {"type": "message"})
        if place not in self._begun:
            return item
        begun = "".join(self._begun[place])
        match item.get("type"):
            case "function_call":
                return {**item, "arguments": begun}
            case "reasoning":
                return {**item, "summary": [{"type": "summary_text", "text": begun}]}
            case _:
                return {**item, "content": [{"type": "output_text", "text": begun}]}
