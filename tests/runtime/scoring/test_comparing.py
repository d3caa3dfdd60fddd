"""Values, not spellings: what scorers take for the same, and what they never do."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from coterie.runtime.scoring.comparing import chosen_letter, numerals, same_json
from coterie.runtime.scoring.scorers import ENDING, choice, contains, exact, json_equal, number
from coterie.schema.values.json_text import dumps

COMPOSED = st.text(st.sampled_from("éñçåüÅôşạ abc"), min_size=1).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | COMPOSED,
    lambda child: st.lists(child, max_size=3) | st.dictionaries(COMPOSED, child, max_size=3),
    max_leaves=6,
)
SEPARATORS = (",", "\u00a0", "\u202f", "\u2009", " ", "'", "\u2019", "_", "\\,", "{,}")
MINUS = ("-", "\u2212", "\ufe63", "\uff0d")
BEFORE = ("", "It is ", "= ", "Answer: $", "**", "(", "from 3 to ", "Step 2.\n")
BEHIND = ("", ".", " apples.", "**", ")", "%", "\n", ", I think.")


def spelt(value: Any, form: Literal["NFC", "NFD"]) -> Any:
    """Return a JSON value with its texts in another normal form."""
    if isinstance(value, str):
        return unicodedata.normalize(form, value)
    if isinstance(value, list):
        return [spelt(item, form) for item in value]
    if isinstance(value, dict):
        return {spelt(key, form): spelt(item, form) for key, item in value.items()}
    return value


@settings(max_examples=10 * settings().max_examples)
@given(COMPOSED)
def test_letters_are_the_same_composed_or_not(text: str) -> None:
    apart = unicodedata.normalize("NFD", text)
    for answer, reference in ((text, apart), (apart, text)):
        for scorer in (exact, contains):
            assert scorer(answer, reference, {}).value == 1
        assert json_equal(dumps(answer), dumps(reference), {}).value == 1


@settings(max_examples=10 * settings().max_examples)
@given(JSON)
def test_json_is_the_same_in_any_spelling_of_its_texts(value: Any) -> None:
    composed, apart = spelt(value, "NFC"), spelt(value, "NFD")
    assert same_json(composed, apart)
    for ensure_ascii in (True, False):
        answer = dumps(apart, ensure_ascii=ensure_ascii)
        assert json_equal(answer, dumps(composed), {}).value == 1


def flipped(value: Any) -> Any:
    """Return a JSON value with a number where a truth was, or the other way round."""
    if isinstance(value, list):
        return [flipped(item) for item in value]
    if isinstance(value, dict):
        return {key: flipped(item) for key, item in value.items()}
    if isinstance(value, bool):
        return int(value)
    return bool(value) if value in (0, 1) else value


@settings(max_examples=10 * settings().max_examples)
@given(
    st.recursive(
        st.sampled_from([True, False, 0, 1, 0.0, 1.0]),
        lambda child: st.lists(child, min_size=1) | st.dictionaries(COMPOSED, child, min_size=1),
        max_leaves=5,
    )
)
@example(True)
@example([1.0])
def test_a_truth_is_no_number(value: Any) -> None:
    other = flipped(value)
    assert value == other
    assert not same_json(value, other)
    assert json_equal(dumps(value), dumps(other), {}).value == 0
    assert json_equal(dumps(value), dumps(value), {}).value == 1


def test_json_numbers_are_the_same_however_they_are_written() -> None:
    assert json_equal('{"a": [1.0, 2e1]}', '{"a": [1, 20]}', {}).value == 1
    assert json_equal("\u221212", "-12", {}).value == 1
    assert exact("true", True, {}).value == exact("True", True, {}).value == 1
    assert exact("1", True, {}).value == exact("true", 1, {}).value == 0


@settings(max_examples=10 * settings().max_examples)
@given(
    size=st.integers(0, 10**9),
    part=st.sampled_from(["", ".5", ".25"]),
    minus=st.sampled_from(["", *MINUS]),
    separator=st.sampled_from(["", *SEPARATORS]),
    before=st.sampled_from(BEFORE),
    behind=st.sampled_from(BEHIND),
)
def test_a_number_is_the_same_in_every_spelling(size, part, minus, separator, **around) -> None:
    written = f"{size:,}".replace(",", separator) + part
    reference = float(f"{'-' if minus else ''}{size}{part}")
    assert (
        number(
            "{before}{number}{behind}".format(number=minus + written, **around), reference, {}
        ).value
        == 1
    )


@settings(max_examples=10 * settings().max_examples)
@given(
    st.lists(st.integers(0, 9999), min_size=2, max_size=5), st.sampled_from([",", "-", "\u2013"])
)
def test_lists_and_ranges_end_in_their_last_number(values: list[int], between: str) -> None:
    assume(between != "," or all(value < 100 or value > 999 for value in values[1:]))
    assert numerals(between.join(map(str, values))) == [*map(str, values)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.234.567,8", "1234567.8"), ("12,34,567", "1234567"), ("1,2345", "2345"), ("-$5", "-5"),
        ("10^-5", "-5"), ("x-5", "5"), ("1.2.3", "3"), (".5", ".5"), ("2e3", "2e3"), ("7.", "7"),
    ],
)  # fmt: skip
def test_numerals(text: str, expected: str) -> None:
    assert numerals(text)[-1] == expected


def test_long_numbers_are_compared_exactly_and_huge_ones_at_all() -> None:
    assert number("12345678901234567891", "12345678901234567890", {}).value == 0
    assert number("1" * 400, "1" * 400, {}).value == 1
    assert number("1e999999999999999999999", 7, {}).value == 0


@settings(max_examples=10 * settings().max_examples)
@given(
    letter=st.sampled_from("BCDEFGH"),
    form=st.sampled_from(
        [
            "{}", "({})", "{}.", "**{}**", "{})", "\\boxed{{{}}}", "Answer: {}", "The answer is {}",
            "the correct option is ({})", "I choose {}", "It's {}", "answer: **{}**", "Option {}",
            "I think A is wrong.\n{}", "Not (A), ({})", "A or rather {}",
        ]
    ),
    behind=st.sampled_from(
        ["", ".", ". I am sure.", " because I checked it", ", I think.", "\nI'd bet on it.",
         ". A good choice.", "\n\nA nice question!"]
    ),
)  # fmt: skip
def test_the_letter_is_found_whatever_is_said_beside_it(
    letter: str, form: str, behind: str
) -> None:
    answer = form.format(letter) + behind
    assert choice(answer, f"({letter})", {}).value == 1
    assert choice(answer, "A", {}).value == 0


@given(
    form=st.sampled_from(
        ["{}.", "{})", "**{}.**", "> {}:", "option {}.", "Choice {},", "Answer {}:"]
    ),
    letter=st.sampled_from("BCDEFGH"),
)
def test_the_letter_at_the_beginning_counts_before_what_it_stands_for(
    form: str, letter: str
) -> None:
    answer = f"{form.format(letter)} Vitamin A, not C"
    assert choice(answer, letter, {}).value == 1


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B. Vitamin C", "B"), ("b) vitamin C", "B"), ("The answer is B: vitamin C", "B"),
        ("(A) is wrong, (B) is right", "B"), ("answer: b", "B"), ("A", "A"), ("I", "I"),
        ("A is right", "A"), ("The answer is not A but C", "C"), ("A. x\nB. y\nSo B", "B"),
        ("Because", None), ("none", None), ("I am not sure", None), ("", None),
    ],
)  # fmt: skip
def test_letters(answer: str, letter: str | None) -> None:
    assert chosen_letter(answer) == letter


@pytest.mark.parametrize("read", [numerals, chosen_letter])
def test_no_answer_takes_long_to_read(read: Callable[[str], object]) -> None:
    for part in ("1 111", "1,111", "1.111", "1\\,111", "answer is option ", "I  ", "(", "1.1,1"):
        read(part * (ENDING // len(part)))
