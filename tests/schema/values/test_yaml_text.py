"""YAML as data: the scalars of YAML 1.2, and nothing that surprises."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.schema.values.document import DocumentLimits
from coterie.schema.values.yaml_text import read_yaml, resolve


def told(text: str | bytes, limits: DocumentLimits | None = None) -> list[str]:
    content = text if isinstance(text, bytes) else text.encode()
    _, problems = read_yaml(content, "f", limits or DocumentLimits())
    return [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("Null", None), ("nULL", "nULL"),
        ("true", True), ("False", False), ("yes", "yes"), ("NO", "NO"), ("on", "on"), ("y", "y"),
        ("7", 7), ("-7", -7), ("+7", 7), ("010", 10), ("0o10", 8), ("0x1F", 31), ("-0x1", "-0x1"),
        ("1_000", "1_000"), ("1:30", "1:30"), ("9" * 40, int("9" * 40)),
        ("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("1E-2", 0.01),
        ("-1.2345678901234567e-300", -1.2345678901234567e-300),
        ("2026-11-21", "2026-11-21"), ("=", "="), (".", "."), ("1.2.3", "1.2.3"), ("e5", "e5"),
    ],
)  # fmt: skip
def test_a_plain_word_has_its_value_by_the_core_schema(text: str, value: Any) -> None:
    result = resolve(text)
    assert (result, type(result)) == (value, type(value))


@pytest.mark.parametrize(
    "text", [".nan", ".NaN", "+.inf", "-.Inf", "1e400", "9" * 41, "1." + "0" * 40]
)
def test_a_number_that_cannot_be_compared_or_is_endless_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number that can be compared|characters; at most"):
        resolve(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "prompt: Note: be brief\n",
            "f:1:13: error: not YAML: mapping values are not allowed in this context. Quote a text"
            " that has a colon and a space in it.",
        ),
        (
            "prompt: @all be brief\n",
            "f:1:9: error: not YAML: found character that cannot start any token (while scanning"
            " for the next token). Quote a text that begins with this character.",
        ),
        (
            "a: 1\n b: 2\n",
            "f:2:3: error: not YAML: mapping values are not allowed in this context. Quote a text"
            " that has a colon and a space in it.",
        ),
        (
            "a:\n  b: 1\n c: 2\n",
            "f:3:2: error: not YAML: did not find expected key (while parsing a block mapping). Is"
            " the line indented like its neighbours?",
        ),
        (
            "a: 1\nprompt be brief\n",
            "f:3:1: error: not YAML: could not find expected ':' (while scanning a simple key)."
            " Write `name: value`, or indent a text of several lines.",
        ),
        (
            "a:\n- b\nc\n- d\n",
            "f:4:1: error: not YAML: could not find expected ':' (while scanning a simple key)."
            " Write `name: value`, or indent a text of several lines.",
        ),
        (
            'a: "open\n',
            "f:2:1: error: not YAML: found unexpected end of stream (while scanning a quoted"
            " scalar).",
        ),
        ("a: *b\n", "f:1:4: error: a: alias *b. "),
        ("%YAML 3.0\n---\na: 1\n", "f:1:1: error: not YAML: found incompatible YAML document."),
        ("a: 1\n\tb: 2\n", "f:2:1: error: a tab cannot indent YAML. Use spaces."),
    ],
)
def test_what_is_no_yaml_is_told_with_what_most_often_lies_behind_it(text: str, line: str) -> None:
    (problem,) = told(text)
    assert problem.startswith(line)


def test_places_count_characters_of_lines() -> None:
    document, problems = read_yaml("\ufeff# é\nä: [ö, {ü: 1}]\r\nb: 2".encode(), "f")
    assert problems == []
    places = {path: (place.line, place.column) for path, place in document.places.items()}
    assert places == {
        (): (2, 1),
        ("ä",): (2, 4),
        ("ä", 0): (2, 5),
        ("ä", 1): (2, 8),
        ("ä", 1, "ü"): (2, 12),
        ("b",): (3, 4),
    }
    assert [(place.line, place.column) for place in document.keys.values()] == [
        (2, 1), (2, 9), (3, 1),
    ]  # fmt: skip


def test_the_first_of_two_equal_keys_counts_with_all_that_is_in_it() -> None:
    document, problems = read_yaml(b"a: {b: 1}\na: {b: 2, c: 3}\n", "f")
    assert document.value == {"a": {"b": 1}}
    assert [str(problem) for problem in problems] == [
        "f:2:1: error: a: duplicate key 'a', first at 1:1. Keep one."
    ]
    assert document.places["a", "b"].line == 1


def test_a_quoted_word_is_text_and_a_key_of_any_kind_is_told() -> None:
    document, problems = read_yaml(b"'5': 'true'\n\"<<\": x\nnull: 1\n", "f")
    assert document.value == {"5": "true", "<<": "x", "None": 1}
    assert [problem.message for problem in problems] == ["the key null is not text. Quote it."]


def test_a_problem_of_a_value_without_a_place_stands_at_the_nearest_parent() -> None:
    document, _ = read_yaml(b"a: {b: 1}\n", "f")
    assert str(document.problem(("a", "c", 3), "Gone.")) == "f:1:4: error: a.c[3]: Gone."
    assert str(document.problem(("x",), "Gone.", at_key=True)) == "f:1:1: error: x: Gone."


@settings(max_examples=10 * settings().max_examples)
@given(
    character=st.characters(min_codepoint=0x10000),
    before=st.text("ab ", max_size=9),
    upper=st.booleans(),
    lines=st.integers(0, 3),
)
def test_json_escapes_are_advised_on(character: str, before: str, upper: bool, lines: int) -> None:
    escaped = json.dumps(character)[1:-1]
    escaped = rf"\u{escaped[2:6].upper()}\u{escaped[8:].upper()}" if upper else escaped
    text = "\n" * lines + f'prompt: "{before}{escaped} x"\n'
    place = f"f:{lines + 1}:{10 + len(before)}"
    advice = rf"Write \U{ord(character):08x}, or {character} itself."
    assert told(text) == [f"{place}: error: {escaped} is JSON, not YAML. {advice}"]
    mended = text.replace(escaped, rf"\U{ord(character):08x}")
    assert read_yaml(mended.encode(), "f")[0].value == {"prompt": f"{before}{character} x"}


def test_half_a_character_is_told_where_it_is() -> None:
    assert told(r'a: "\ud83d"') == [
        r"f:1:5: error: \ud83d is half a character. Write the whole one, or leave it out."
    ]
    assert told(r"a: '\ud83d\ude00'") == [], "in other quotes it is text"
