"""What is said in a conversation of the chat API: examples, and anything that could be."""

import json
from typing import Any

from hypothesis import strategies as st

from coterie.runtime.gateway import ChatAnswer, ChatRequest, Endpoint
from coterie.runtime.gateway.wires import WIRES

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        },
    },
}
ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["answer"],
}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: str, **kept: Any) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": '{"location": "Paris"}'}
    written = [{"id": call, "type": "function", "function": function} for call in calls]
    return {"role": "assistant", "content": text, "tool_calls": written, **kept}


def given_back(answer: ChatAnswer) -> dict[str, Any]:
    """Write an answer as the message that a runner puts into the next request."""
    return assistant(answer.text, *(call.id for call in answer.tool_calls), **answer.kept)


def written_for(
    endpoint: Endpoint, *messages: Any, refused: frozenset[str] = frozenset(), **request: Any
) -> dict[str, Any]:
    """Write a request to an endpoint; give its fields."""
    asked = ChatRequest(model="default", messages=messages, **request)
    body = WIRES[endpoint.wire].body(endpoint, asked, refused)
    assert json.loads(body.content) == body.fields
    return dict(body.fields)


def result(call: str, text: str = "15 degrees") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


TEXTS = st.sampled_from(["", " ", "\n", "four", "Where is Paris?"])
IDS = st.sampled_from(["", "toolu_1", "toolu_2", "call.1", "functions.f:0", "\u6f22"])
MESSAGES = st.one_of(
    st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
    st.builds(user, TEXTS),
    st.builds(lambda text, calls: assistant(text, *calls), TEXTS | st.none(), st.lists(IDS)),
    st.builds(result, IDS, TEXTS),
)
