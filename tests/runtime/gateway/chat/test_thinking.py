"""Thinking aloud, split from answers: in tags, in fields, in parts; no character is lost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway.chat import thinking as module
from coterie.runtime.gateway.chat.thinking import split, thought_of

OPEN = ["<think>", "<thinking>", "<reasoning>", "<thought>", "<seed:think>", "[THINK]"]
CLOSE = ["</think>", "</thinking>", "</reasoning>", "</thought>", "</seed:think>", "[/THINK]"]


@pytest.mark.parametrize(("opening", "closing"), list(zip(OPEN, CLOSE, strict=True)))
def test_tags_in_which_models_think(opening: str, closing: str) -> None:
    result = split(f'{opening}Maybe {{"answer": 3}}?\n{closing}\n\n{{"answer": 4}}')
    assert (result.thinking, result.answer) == ('Maybe {"answer": 3}?', '{"answer": 4}')


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("\n <think>a</think>b", "a", "b"),
        ("<THINK>a</Think>b", "a", "b"),
        ("<think>\n\n</think>\n\nb", "", "b"),
        ("<think></think>", "", ""),
        ("<think>a</think><think>b</think>c", "a\n\nb", "c"),
        ("<think>is <think> a tag?</think>yes", "is <think> a tag?", "yes"),
        ("So it is 4.\n</think>\n\n4", "So it is 4.", "4"),
        ("So it is 4.</think>4", "So it is 4.", "4"),
        ("So it is 4. </think> 4", "So it is 4.", "4"),
        ("</think>4", "", "4"),
        ("hm[/THINK]4", "hm", "4"),
        (
            "<|begin_of_thought|>a<|end_of_thought|>\n<|begin_of_solution|>b<|end_of_solution|>\n",
            "a",
            "b",
        ),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
            "a",
            "b",
        ),
    ],
)
def test_thinking_is_split_off(text: str, thinking: str, answer: str) -> None:
    result = split(text)
    assert (result.thinking, result.answer, result.is_open) == (thinking, answer, False)


def test_thinking_without_an_end_is_no_answer() -> None:
    result = split("<think>Maybe 3, maybe")
    assert (result.thinking, result.answer, result.is_open) == ("Maybe 3, maybe", "", True)


@pytest.mark.parametrize(
    "text",
    [
        "four",
        "Write <think>a</think> ahead of it.",
        "The sign </think> ends it.",
        "It ends with `</think>`.",
        'It ends with "</think>".',
        "It ends with '</think>'.",
        '{"answer": "x</think>y"}',
        '["</think>"]',
        'It is {"answer": "x</think>y"}.',
        "For example:\n```xml\n</think>\n```\nSo.",
        "I <b>think</b> so.",
        "thinking of it, no",
    ],
)
def test_an_answer_that_speaks_of_the_signs_stays(text: str) -> None:
    assert split(text).pieces == (("answer", text),)


SIGNS = [*OPEN, *CLOSE, "<|channel|>analysis<|message|>", "<|end|>", "<|return|>"]
WRITTEN = st.lists(
    st.sampled_from([*SIGNS, "`", '"', "```", "\n", " ", "a", ".", '{"a": 1}'])
    | st.text(max_size=3),
    max_size=12,
).map("".join)


@given(WRITTEN | st.text(max_size=60), st.booleans())
def test_splitting_loses_and_invents_no_character_and_is_done_once(text: str, alone: bool) -> None:
    result = split(text, alone=alone)
    assert "".join(piece for _, piece in result.pieces) == text
    assert split(result.answer, alone=alone).answer == result.answer
    assert not split(result.answer, alone=alone).thinking


SIGNS_OF_ALL_KINDS = [
    *OPEN,
    *CLOSE,
    "◁think▷",
    "◁/think▷",
    "<|begin_of_thought|>",
    "<|END_THINKING|>",
]


@given(
    st.lists(
        st.sampled_from([*SIGNS_OF_ALL_KINDS, "\n", "\u2003", "a < b", "[1]", "`"]), max_size=5
    )
)
def test_a_text_is_searched_wherever_it_may_hold_a_sign(parts: list[str]) -> None:
    text = "".join(parts)
    looked = split(text), thought_of({"content": text})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_may_hold_signs", lambda _: True)
        assert looked == (split(text), thought_of({"content": text}))


@given(st.sampled_from(list(zip(OPEN, CLOSE, strict=True))), WRITTEN)
def test_what_stands_between_signs_is_no_answer(signs: tuple[str, str], text: str) -> None:
    opening, closing = signs
    result = split(f"{opening}a thought{closing}{text}")
    assert result.answer in text
    assert "a thought" in result.thinking


@pytest.mark.parametrize(
    ("message", "thinking", "kept"),
    [
        ({"reasoning_content": "hm"}, "hm", {"reasoning_content": "hm"}),
        ({"reasoning_content": ""}, "", {"reasoning_content": ""}),
        ({"reasoning_content": None}, "", {}),
        ({"reasoning": "hm"}, "hm", {"reasoning": "hm"}),
        (
            {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
            "hm",
            {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        ),
        (
            {
                "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}],
                "reasoning": None,
            },
            "",
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
        ),
        (
            {
                "reasoning_content": "hm",
                "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
            },
            "hm",
            {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        ),
        ({"reasoning": "", "reasoning_content": "hm"}, "hm", {"reasoning_content": "hm"}),
        ({"reasoning": "hm", "reasoning_content": ""}, "hm", {"reasoning": "hm"}),
    ],
)
def test_thinking_in_fields_of_its_own(message: Any, thinking: str, kept: Any) -> None:
    assert thought_of({"content": "4", **message}) == ("4", thinking, kept)


def test_thinking_in_parts_of_a_content() -> None:
    hm = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [hm, {"type": "text", "text": "4"}]
    assert thought_of({"content": content}) == ("4", "hm", {"content": content})


def test_a_field_and_tags_that_say_the_same_are_both_no_answer() -> None:
    both = thought_of({"content": "<think>hm</think>4", "reasoning_content": "hm"})
    assert (both.text, both.thinking) == ("4", "hm")


def test_with_a_field_of_its_own_a_closing_sign_alone_belongs_to_the_answer() -> None:
    assert thought_of({"content": "a\n</think>\nb", "reasoning": "hm"}).text == "a\n</think>\nb"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["thinking", "text", "type", "summary"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["reasoning_content", "reasoning_details"]), JSON))
def test_whatever_a_field_holds_it_is_text(message: Any) -> None:
    assert isinstance(thought_of(message).thinking, str)
    json.dumps(thought_of(message).fields)
