"""What is kept of a conversation is bounded, and who said what stays."""

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import ChatAnswer, ToolRequest
from coterie.runtime.gateway.chat.dialogue import as_dialogue

TEXTS = st.text(max_size=400)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user"]), "content": TEXTS}),
    max_size=6,
)


@given(MESSAGES, TEXTS, st.integers(0, 900))
def test_it_is_as_long_as_wanted_at_most(messages: list[dict[str, str]], text: str, most: int):
    dialogue = as_dialogue(messages, ChatAnswer(text=text), most)
    assert [item["role"] for item in dialogue] == [
        *(message["role"] for message in messages),
        "assistant",
    ]
    assert sum(len(item["content"]) for item in dialogue) <= most
    whole = [*(message["content"] for message in messages), text]
    if sum(map(len, whole)) <= most:
        assert [item["content"] for item in dialogue] == whole


def test_short_messages_stay_whole_beside_a_long_one() -> None:
    long = "a" * 500 + "b" * 500
    dialogue = as_dialogue([{"role": "user", "content": "short"}], ChatAnswer(text=long), 205)
    assert dialogue[0]["content"] == "short"
    assert len(dialogue[1]["content"]) <= 200
    assert dialogue[1]["content"].startswith("aaa")
    assert dialogue[1]["content"].endswith("bbb")


def test_tool_calls_and_parts_are_text() -> None:
    shown = [
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 1}'}}],
        },
    ]
    called = ToolRequest(id="1", name="stop", arguments="{}")
    dialogue = as_dialogue(shown, ChatAnswer(text="Done.", tool_calls=(called,)), 999)
    assert [item["content"] for item in dialogue] == [
        "Look:\n[image_url]",
        'add({"a": 1})',
        "Done.\nstop({})",
    ]
