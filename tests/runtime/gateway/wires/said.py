"""What is said in a conversation of the chat API: examples, and anything that could be."""

from typing import Any

from hypothesis import strategies as st

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
