"""Responses of the OpenAI API."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ..plan.plan import Plan
from ..record.trace import Event
from .bodies import items_of, message_of, part_of, refuse_form, refuse_set, text_for, usage_value
from .messages import ClientMessage
from .progress import line_of, pieces
from .refusals import Refusal
from .server import ServedAnswer
from .streaming import server_sent

REFUSED: Mapping[str, str] = {
    "tools": "not supported: the team's agents call their own tools, granted by tools.yaml.",
    "conversation": "not supported. Send previous_response_id, or the conversation as input.",
    "background": "not supported: the client waits for the response.",
    "prompt": "not supported: no prompts are stored here. Send the text as input.",
}
PASSED_OVER = frozenset({"reasoning", "item_reference"})
"""Items of an earlier response that are no messages."""


@dataclass(kw_only=True, eq=False)
class Responses:
    """How `/v1/responses` reads a request and writes its answer."""

    body: Mapping[str, Any]
    _name: str = field(default_factory=lambda: secrets.token_hex(12))
    _number: Iterator[int] = field(default_factory=count)

    def messages(self, plan: Plan) -> list[ClientMessage]:
        """Read the conversation."""
        refuse_set(self.body, REFUSED)
        refuse_form(self._form, plan, "text.format")
        content, instructions = self.body.get("input"), self.body.get("instructions")
        system = [ClientMessage(role="system", text=str(instructions))] if instructions else []
        if isinstance(content, str):
            return [*system, ClientMessage(role="user", text=content)]
        items = items_of(content, "input")
        messages = [item for item in items if item.get("type") not in PASSED_OVER]
        return [*system, *(message_of(message, "input") for message in messages)]

    @property
    def _form(self) -> Any:
        return part_of(self.body, "text").get("format")

    def answered(self, answer: ServedAnswer) -> dict[str, Any]:
        """Return the response."""
        return self._response("completed", [self._message(text_for(self._form, answer))], answer)

    @property
    def conversation(self) -> dict[str, str]:
        """The id of the response that it continues, and its own id for later ones."""
        is_stored = self.body.get("store") is not False
        before = self.body.get("previous_response_id") or ""
        return {"continues": str(before), "conversation": self._id("resp") if is_stored else ""}

    async def streamed(self, events: AsyncGenerator[Event | ServedAnswer]) -> AsyncGenerator[str]:
        """Write the events of a response: progress as a summary of reasoning, then the answer."""
        created = self._response("in_progress", [])
        yield self._event("response.created", response=created)
        yield self._event("response.in_progress", response=created)
        lines: list[str] = []
        try:
            async for event in events:
                if isinstance(event, ServedAnswer):
                    for text in (
                        *self._summary_end(lines),
                        *self._answer_events(event, has_summary=bool(lines)),
                    ):
                        yield text
                elif line := line_of(event):
                    for text in self._summary_delta(line, is_first=not lines):
                        yield text
                    lines.append(line)
        except Refusal as refusal:
            error = {"code": refusal.code or "server_error", "message": refusal.message}
            failed = {**self._response("failed", []), "error": error}
            yield self._event("response.failed", response=failed)

    def _summary_delta(self, line: str, *, is_first: bool) -> Iterable[str]:
        """Write a line of progress, as a part of the first item."""
        place = {"item_id": self._id("rs"), "output_index": 0, "summary_index": 0}
        if is_first:
            yield self._event("response.output_item.added", output_index=0, item=self._summary(""))
            part = {"type": "summary_text", "text": ""}
            yield self._event("response.reasoning_summary_part.added", **place, part=part)
        yield self._event("response.reasoning_summary_text.delta", **place, delta=line)

    def _summary_end(self, lines: list[str]) -> Iterable[str]:
        """Write the end of the first item, if there is one."""
        if not lines:
            return
        text = "".join(lines)
        place = {"item_id": self._id("rs"), "output_index": 0, "summary_index": 0}
        part = {"type": "summary_text", "text": text}
        yield self._event("response.reasoning_summary_text.done", **place, text=text)
        yield self._event("response.reasoning_summary_part.done", **place, part=part)
        yield self._event("response.output_item.done", output_index=0, item=self._summary(text))

    def _answer_events(self, answer: ServedAnswer, *, has_summary: bool) -> Iterable[str]:
        """Write the answer, and the whole response."""
        at = int(has_summary)
        place = {"item_id": self._id("msg"), "output_index": at, "content_index": 0}
        whole = text_for(self._form, answer)
        message, empty = self._message(whole), self._message("")
        part = message["content"][0]
        created = {**empty, "status": "in_progress", "content": []}
        yield self._event("response.output_item.added", output_index=at, item=created)
        yield self._event("response.content_part.added", **place, part=empty["content"][0])
        for delta in pieces(whole):
            yield self._event("response.output_text.delta", **place, delta=delta, logprobs=[])
        yield self._event("response.output_text.done", **place, text=whole, logprobs=[])
        yield self._event("response.content_part.done", **place, part=part)
        yield self._event("response.output_item.done", output_index=at, item=message)
        yield self._event("response.completed", response=self.answered(answer))

    def _event(self, kind: str, **fields: Any) -> str:
        return server_sent({"type": kind, "sequence_number": next(self._number), **fields}, kind)

    def _summary(self, text: str) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": text}] if text else []
        return {"id": self._id("rs"), "type": "reasoning", "summary": summary}

    def _message(self, text: str) -> dict[str, Any]:
        content = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        head = {"id": self._id("msg"), "type": "message", "role": "assistant"}
        return {**head, "status": "completed", "content": [content]}

    def _id(self, kind: str) -> str:
        return f"{kind}_{self._name}"

    def _response(
        self, status: str, output: list[dict[str, Any]], answer: ServedAnswer | None = None
    ) -> dict[str, Any]:
        return {
            "id": self._id("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "status": status,
            "model": self.body["model"],
            "output": output,
            "error": None,
            "incomplete_details": None,
            "instructions": self.body.get("instructions"),
            "metadata": self.body.get("metadata") or {},
            "previous_response_id": self.body.get("previous_response_id"),
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
            "usage": usage_value(answer.usage, "input", "output") if answer else None,
            **({"coterie": answer.about} if answer else {}),
        }
