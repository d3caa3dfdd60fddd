"""A tool in an agent's hands: calls are checked, bounded and traced."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.repository.workspace import Workspace
from coterie.runtime.tools import GrantedTool, Tool, ToolError
from coterie.runtime.values.bounds import LONGEST_EVENT, LONGEST_STRUCTURED, MOST_VALUES

COUNT = {
    "type": "object",
    "properties": {"word": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
    "required": ["word"],
    "additionalProperties": False,
}


class Hand:
    """A tool granted to an agent, and the events of its calls."""

    def __init__(self, workspace: Workspace, parameters: Mapping[str, Any] = COUNT) -> None:
        self.events: list[dict[str, Any]] = []
        tool = Tool(name="words.re-peat", description="Repeat.", parameters=parameters, run=repeat)
        self.granted = GrantedTool(tool=tool, workspace=workspace, emit=self.emit)

    def emit(self, type: str, **fields: Any) -> None:  # noqa: A002
        self.events.append({"type": type, **fields})

    def call(self, arguments: Any) -> Any:
        return asyncio.run(self.granted.call(arguments))


async def repeat(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
    if arguments["word"] == "broken":
        raise ToolError("the word is broken.", detail="a stack of it")
    if arguments["word"] == "bug":
        return {}[arguments["word"]]
    if arguments["word"] == "set":
        return {arguments["word"]}
    words = [arguments["word"]] * arguments.get("times", 1)
    return words if workspace.name == "agent-1" else None


def test_a_call(workspace: Workspace) -> None:
    hand = Hand(workspace)

    assert hand.call({"word": "hi", "times": 2}) == ["hi", "hi"]
    assert hand.events[0].pop("seconds") >= 0
    assert hand.events == [
        {
            "type": "tool_call",
            "tool": "words.re-peat",
            "arguments": {"word": "hi", "times": 2},
            "result": ["hi", "hi"],
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (None, "the arguments are not a JSON object"),
        ("hi", "the arguments are not a JSON object"),
        ({}, "the arguments: 'word' is a required property"),
        ({"word": 1, "times": 0}, "word: 1 is not of type 'string'; times: 0 is less than"),
        ({"word": "a", "times": 2.0}, "times: 2.0 is not of type 'integer'"),
        ({"word": "a", "times": True}, "times: True is not of type 'integer'"),
        ({"word": "a", "path": "/"}, "'path' was unexpected"),
    ],
)
def test_arguments_that_do_not_fit(workspace: Workspace, arguments: Any, reason: str) -> None:
    hand = Hand(workspace)

    with pytest.raises(ToolError) as refusal:
        hand.call(arguments)

    assert str(refusal.value).startswith("words.re-peat: ")
    assert reason in str(refusal.value)
    assert hand.events[0]["error"] == str(refusal.value)


def test_a_failure_is_told_and_its_detail_is_kept(workspace: Workspace) -> None:
    hand = Hand(workspace)

    with pytest.raises(ToolError, match=r"^the word is broken\.$"):
        hand.call({"word": "broken"})

    (event,) = hand.events
    assert (event["error"], event["detail"]) == ("the word is broken.", "a stack of it")


@pytest.mark.parametrize(
    ("word", "raised"),
    [
        ("bug", r"KeyError: 'bug' \(test_tool.py:\d+\)"),
        ("set", "TypeError: Object of type set is not JSON serializable"),
    ],
)
def test_a_bug_is_told_and_its_traceback_kept(workspace: Workspace, word: str, raised: str) -> None:
    hand = Hand(workspace)

    with pytest.raises(ToolError) as info:
        hand.call({"word": word})

    assert re.fullmatch(f"words.re-peat: {raised}", str(info.value))
    (event,) = hand.events
    assert event["error"] == str(info.value)
    assert event["detail"].startswith("Traceback")
    assert event["detail"].endswith(raised.partition(r" \(")[0] + "\n")


@pytest.mark.parametrize(
    "arguments", [{"word": "x" * 200_000}, {"word": "x" * 50, "times": 10_000}]
)
def test_a_long_result_is_cut(workspace: Workspace, arguments: dict[str, Any]) -> None:
    result = Hand(workspace).call(arguments)

    assert result.endswith("more characters left out]")
    assert len(result) < 100_100


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "#/$defs/nothing"},
        {"$ref": "#"},
    ],
)
def test_a_dangling_schema_fetches_nothing(workspace: Workspace, schema: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="refer to each other in a way that cannot be checked"):
        Hand(workspace, schema).call({"word": "hi"})


def test_the_definition_for_models(workspace: Workspace) -> None:
    assert Hand(workspace).granted.tool.definition == {
        "type": "function",
        "function": {"name": "words_re_peat", "description": "Repeat.", "parameters": COUNT},
    }


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"path": "x" * (LONGEST_STRUCTURED + 1)}, "its texts are too long"),
        ({"path": ["x"] * (MOST_VALUES + 1)}, "it has too many values"),
        ({"x" * (LONGEST_STRUCTURED + 1): 1}, "its texts are too long"),
    ],
)
def test_too_much_reaches_nobody(arguments: dict[str, Any], why: str, workspace: Workspace) -> None:
    hand = Hand(workspace)
    with pytest.raises(ToolError, match=f"words.re-peat: it is not given this: {why}"):
        hand.call(arguments)
    assert len(str(hand.events)) < 2 * LONGEST_EVENT


@pytest.mark.parametrize(
    ("given", "sound"),
    [
        ("lone \ud83d end \0", "lone \ufffd end \ufffd"),
        ({"a\ud83d": ["\0", 1, None]}, {"a\ufffd": ["\ufffd", 1, None]}),
        (10**5000, "[an integer of about 4983 digits]"),
        ([-(10**5000), 10**300], ["[an integer of about 4983 digits]", 10**300]),
        (("a", 1), ["a", 1]),
    ],
    ids=["text", "object", "long integer", "integers", "tuple"],
)
def test_results_are_made_sound(workspace: Workspace, given: Any, sound: Any) -> None:
    async def give(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
        del arguments, workspace
        return given

    tool = Tool(name="give", description="Give.", parameters={"type": "object"}, run=give)
    granted = GrantedTool(tool=tool, workspace=workspace, emit=lambda *_, **__: None)
    assert asyncio.run(granted.call({})) == sound
