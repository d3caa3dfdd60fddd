"""Chat completions of the OpenAI API."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from ..plan.plan import Plan
from ..record.trace import Event
from .bodies import items_of, message_of, part_of, refuse_form, refuse_set, text_for, usage_value
from .messages import ClientMessage
from .progress import line_of, pieces
from .refusals import Refusal, bad_request
from .server import ServedAnswer
from .streaming import server_sent

REFUSED: Mapping[str, str] = {
    "tools": "not supported: the team's agents call their own tools, granted by tools.yaml.",
    "functions": "not supported: the team's agents call their own tools.",
    "logprobs": "not supported: a team's answer has no log probabilities.",
    "audio": "not supported: a team answers with text.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Chat:
    """How `/v1/chat/completions` reads requests and writes answers.

    Attributes:
        conversation: Empty: the client sends the whole conversation.
    """

    body: Mapping[str, Any]
    conversation: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def messages(self, plan: Plan) -> list[ClientMessage]:
        """Read the conversation.

        Raises:
            Refusal: The request asks for something that the team cannot do.
        """
        refuse_set(self.body, REFUSED)
        if self.body.get("n", 1) not in (None, 1):
            raise bad_request("n: a team gives one answer. Leave n out, or send the request again.")
        refuse_form(self.body.get("response_format"), plan, "response_format")
        return [
            message_of(message, "messages")
            for message in items_of(self.body.get("messages"), "messages")
        ]

    def answered(self, answer: ServedAnswer) -> dict[str, Any]:
        """Return the response."""
        message = {"role": "assistant", "content": self._text(answer), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {
            **self._head(answer.run, "chat.completion"),
            "choices": [choice],
            "usage": usage_value(answer.usage, "prompt", "completion"),
            "coterie": answer.about,
        }

    async def streamed(self, events: AsyncGenerator[Event | ServedAnswer]) -> AsyncGenerator[str]:
        """Write the events of a response: progress as reasoning, then the answer."""
        name = f"{time.time_ns():x}"
        yield self._chunk(name, {"role": "assistant", "content": ""})
        try:
            async for event in events:
                if isinstance(event, ServedAnswer):
                    for text in self._answer_events(name, event):
                        yield text
                elif line := line_of(event):
                    yield self._chunk(name, {"reasoning_content": line})
        except Refusal as refusal:
            yield server_sent(refusal.value)
        yield server_sent("[DONE]")

    def _text(self, answer: ServedAnswer) -> str:
        return text_for(self.body.get("response_format"), answer)

    def _answer_events(self, name: str, answer: ServedAnswer) -> list[str]:
        deltas = [self._chunk(name, {"content": piece}) for piece in pieces(self._text(answer))]
        last = self._chunk(name, {}, finish_reason="stop", coterie=answer.about)
        if not part_of(self.body, "stream_options").get("include_usage"):
            return [*deltas, last]
        usage = usage_value(answer.usage, "prompt", "completion")
        head = self._head(name, "chat.completion.chunk")
        return [*deltas, last, server_sent({**head, "choices": [], "usage": usage})]

    def _chunk(
        self, name: str, delta: Mapping[str, Any], finish_reason: str | None = None, **fields: Any
    ) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        head = self._head(name, "chat.completion.chunk")
        return server_sent({**head, "choices": [choice], **fields})

    def _head(self, name: str, kind: str) -> dict[str, Any]:
        fields = {"object": kind, "created": int(time.time()), "model": self.body["model"]}
        return {"id": f"chatcmpl-{name}", **fields}
