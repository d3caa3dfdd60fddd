"""What Anthropic's API keeps between calls, and the schemas and conversations that it takes."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .said import ANSWER, MESSAGES, WEATHER, assistant, result, user
from .test_anthropic import SAID, read, unmarked, written


def marks(body: dict[str, Any]) -> list[str]:
    """Name the places whose prompt up to there is kept."""
    texts = ["tools"] if "cache_control" in json.dumps(body.get("tools")) else []
    texts += ["system"] if "cache_control" in json.dumps(body.get("system")) else []
    turns = enumerate(body["messages"])
    return texts + [str(place) for place, turn in turns if "cache_control" in json.dumps(turn)]


def test_what_stays_the_same_is_kept_by_the_provider() -> None:
    system = {"role": "system", "content": "You are brief."}
    assert marks(written(system, user("hi"))) == ["system"]
    assert marks(written(user("hi"))) == []
    assert marks(written(system, user("hi"), tools=[WEATHER])) == ["tools", "system", "0"]
    assert marks(written(user("hi"), tools=[WEATHER])) == ["tools", "0"]
    loop = [system, user("hi"), assistant("", "toolu_1"), result("toolu_1")]
    assert marks(written(*loop, tools=[WEATHER])) == ["tools", "system", "2"]
    assert marks(written(system, user("hi"), assistant("hm"), user("go on"))) == ["system", "2"]


def test_a_prompt_begins_as_the_one_before_it_but_for_the_marks() -> None:
    loop = [user("hi"), assistant("", "toolu_1"), result("toolu_1")]
    before = unmarked(written(*loop, tools=[WEATHER]))
    after = unmarked(written(*loop, assistant("", "toolu_2"), result("toolu_2"), tools=[WEATHER]))
    assert after["messages"][:3] == before["messages"]
    assert after["tools"] == before["tools"]


def test_a_schema_is_said_as_far_as_it_can_be() -> None:
    (form,) = (written(user("hi"), schema=ANSWER)["output_config"]["format"],)
    assert form == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "integer"}},
            "required": ["answer"],
            "additionalProperties": False,
        },
    }


SAYABLE = [
    {"type": "array", "items": {"type": "string"}, "minItems": 2},
    {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
    {"oneOf": [{"const": 1}, {"enum": ["a", None]}]},
    {"type": ["string", "null"], "format": "regex", "pattern": "a+"},
]
UNSAYABLE = [
    {},
    {"type": "object"},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {}},
    {"type": "object", "properties": {"a": True}},
    {"type": "array"},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
    {"enum": [["a"]]},
]


@pytest.mark.parametrize("schema", SAYABLE)
def test_a_part_of_the_schemas_has_an_output_format(schema: dict[str, Any]) -> None:
    assert "output_config" in written(user("hi"), schema=schema)


@pytest.mark.parametrize(("form", "is_kept"), [("uri", True), ("date", True), ("regex", False)])
def test_a_format_that_the_api_knows_is_kept(form: str, is_kept: bool) -> None:
    fields = written(user("hi"), schema={"type": "string", "format": form})
    schema = fields["output_config"]["format"]["schema"]
    assert schema == {"type": "string", **({"format": form} if is_kept else {})}


@pytest.mark.parametrize("schema", UNSAYABLE)
def test_what_the_output_format_cannot_say_is_asked_for_otherwise(schema: dict[str, Any]) -> None:
    body = written(user("hi"), schema=schema)
    assert "output_config" not in body
    if schema.get("type") == "object":
        assert body["tools"][0]["input_schema"] == schema
        assert body["tool_choice"] == {"type": "tool", "name": "give_answer"}
    else:
        assert json.dumps(schema) in body["system"][0]["text"]


def test_a_model_without_output_formats_answers_by_a_tool_or_as_it_is_told() -> None:
    refused = {"response_format=json_schema"}
    older = written(user("hi"), schema=ANSWER, refused=frozenset(refused))
    assert older["tools"][0]["input_schema"] == ANSWER
    assert older["tool_choice"] == {"type": "tool", "name": "give_answer"}
    refused.add("tool_choice=named")
    unforced = written(user("hi"), schema=ANSWER, refused=frozenset(refused))
    assert unforced["tools"] == older["tools"]
    assert "tool_choice" not in unforced
    refused.add("response_format=tool")
    fields = written(user("hi"), schema=ANSWER, refused=frozenset(refused))
    assert "tools" not in fields
    assert json.dumps(ANSWER) in fields["system"][0]["text"]


def test_an_answer_by_a_tool_is_the_text() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "give_answer", "input": {"answer": 4}}
    answer = read({**SAID, "content": [{"type": "text", "text": "So:"}, use]})
    assert (json.loads(answer.text), answer.tool_calls) == ({"answer": 4}, ())
    assert answer.finish_reason == "stop"


@given(st.lists(MESSAGES, max_size=12))
def test_every_conversation_is_one_that_the_api_takes(messages: list[Any]) -> None:
    body = written(*messages)
    turns = body["messages"]
    assert [turn["role"] for turn in turns] == ["user", *["assistant", "user"] * (len(turns) // 2)]
    ids: list[str] = []
    for turn in turns:
        assert turn["content"]
        results = [block for block in turn["content"] if block["type"] == "tool_result"]
        assert turn["content"][: len(results)] == results
        assert [item["tool_use_id"] for item in results] == ids
        ids = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        for text in (block["text"] for block in turn["content"] if block["type"] == "text"):
            assert text.strip()
    used = [block["id"] for turn in turns for block in turn["content"] if "id" in block]
    assert len(used) == len(set(used))
    assert all(re.fullmatch("[a-zA-Z0-9_-]+", item) for item in used)


@given(st.lists(MESSAGES, max_size=12))
def test_no_word_of_a_conversation_is_lost(messages: list[Any]) -> None:
    body = json.dumps(written(*messages))
    for message in messages:
        if text := (message["content"] or "").strip():
            assert json.dumps(text)[1:-1] in body
