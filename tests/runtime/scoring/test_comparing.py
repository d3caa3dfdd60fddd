"""Values, not spellings: what scorers take for the same, and what they never do."""

import re
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
    size=st.integers(1000, 10**9),
    part=st.sampled_from([",5", ",25", ",125"]),
    separator=st.sampled_from(["\u00a0", "\u202f", "\u2009", " ", "'", "\u2019"]),
    before=st.sampled_from(BEFORE),
    behind=st.sampled_from(BEHIND),
)
def test_a_comma_behind_thousands_is_a_decimal_one(size, part, separator, **around) -> None:
    written = f"{size:,}".replace(",", separator) + part
    text = "{before}{number}{behind}".format(number=written, **around)
    assert number(text, float(f"{size}{part}".replace(",", ".")), {}).value == 1


SIGNS = {"\u00bd": (1, 2), "\u2153": (1, 3), "\u00be": (3, 4), "\u2155": (1, 5), "\u215e": (7, 8)}


@settings(max_examples=10 * settings().max_examples)
@given(
    units=st.integers(0, 99),
    of=st.tuples(st.integers(1, 99), st.integers(1, 99)) | st.sampled_from([*SIGNS]),
    form=st.sampled_from(["{}/{}", "{} / {}", "{}\u2044{}", "\\frac{{{}}}{{{}}}"]),
    minus=st.sampled_from(["", *MINUS, "\u2013"]),
    before=st.sampled_from(BEFORE),
    behind=st.sampled_from(BEHIND),
)
def test_a_fraction_is_one_number(units, of, form, minus, **around) -> None:
    over, under = SIGNS[of] if isinstance(of, str) else of
    written = of if isinstance(of, str) else form.format(over, under)
    is_mixed = units and over < under
    if is_mixed:
        written = f"{units}{'' if isinstance(of, str) else ' '}{written}"
    value = ((units if is_mixed else 0) + over / under) * (-1 if minus else 1)
    text = "{before}{number}{behind}".format(number=minus + written, **around)
    assert number(text, value, {}).value == 1
    assert number(text, value + 0.01, {}).value == 0


@settings(max_examples=10 * settings().max_examples)
@given(
    times=st.sampled_from(["", "2 \u00d7 ", "1.5\u00d7", "3x", "4 * ", "7\\times ", "9\u00b7"]),
    power=st.integers(-20, 20),
    form=st.sampled_from(["10^{}", "10^{{{}}}", "10**{}", "10{}"]),
    before=st.sampled_from(BEFORE),
    behind=st.sampled_from(BEHIND),
)
def test_a_power_of_ten_is_one_number(times, power, form, **around) -> None:
    raised = str(power).translate(
        str.maketrans(
            "0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
        )
    )
    written = times + form.format(raised if form == "10{}" else power)
    size = re.match(r"[\d.]+", times)
    value = f"{size[0] if size else 1}e{power}"
    text = "{before}{number}{behind}".format(number=written, **around)
    assert number(text, value, {"tolerance": float(value) / 1e6}).value == 1


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
        ("3/4/2020", "2020"), ("1/0", "0"), ("10^-5", "1e-5"), ("x-5", "5"),
        ("1.2.3", "3"), (".5", ".5"), ("2e3", "2e3"), ("7.", "7"),
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
def test_the_letter_is_found_beside_anything(letter: str, form: str, behind: str) -> None:
    answer = form.format(letter) + behind
    assert choice(answer, f"({letter})", {}).value == 1
    assert choice(answer, "A", {}).value == 0


@given(
    form=st.sampled_from(
        ["{}.", "{})", "**{}.**", "> {}:", "option {}.", "Choice {},", "Answer {}:"]
    ),
    letter=st.sampled_from("BCDEFGH"),
)
def test_the_letter_at_the_start_counts_before_what_it_means(form: str, letter: str) -> None:
    answer = f"{form.format(letter)} Vitamin A, not C"
    assert choice(answer, letter, {}).value == 1


LETTERS = st.sampled_from("ABCDEFGH")


@settings(max_examples=10 * settings().max_examples)
@given(
    letter=LETTERS,
    wrong=LETTERS,
    form=st.sampled_from(
        ["{}", "({})", "**{}**", "{})", "[{}]", "\u2018{}\u2019", '"{}"', "*{}*", "\\boxed{{{}}}"]
    ),
    reasons=st.sampled_from(
        [
            " because {} is wrong", ", because {}, C and D are false", ", since {} is too small",
            " as {} cannot be", ", not {}.", " ({} would be wrong)", "\n\nReasons: {} is wrong.",
            " \u2014 {} is out", "\nI rule out {}",
        ]
    ),
    before=st.sampled_from(["Answer: ", "First {}?\nAnswer: ", "**Answer:** ", "Final answer: "]),
)  # fmt: skip
def test_reasons_behind_a_letter_are_no_other_choice(
    letter: str, wrong: str, form: str, reasons: str, before: str
) -> None:
    answer = before + form.format(letter) + reasons.format(wrong)
    assert choice(answer, letter, {}).value == 1
    assert choice(answer, wrong, {}).value == (wrong == letter)


@pytest.mark.parametrize(
    "form", ["{} or {}", "({}) and ({})", "{}/{}", "{}, {}", "**{}** or **{}**"]
)
def test_a_choice_that_is_left_open_is_wrong(form: str) -> None:
    for letter in "AB":
        assert choice(f"Answer: {form.format('A', 'B')}", letter, {}).value == 0


@pytest.mark.parametrize("letter", ["\uff22", "\u24b7", "\U0001d401", "\uff08\uff22\uff09"])
def test_a_letter_counts_in_every_script_of_it(letter: str) -> None:
    assert choice(f"Answer: {letter}", "B", {}).value == 1


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
