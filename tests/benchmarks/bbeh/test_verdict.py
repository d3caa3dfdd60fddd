r"""The verdicts of the original on answers that are hard to judge, and what holds for all answers.

Each verdict of the tables is the one that the original evaluator gives.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.bbeh.verdict import PREFIXES, agree, bbeh, conclusion, expectation
from coterie.schema import ScorerChoice, Task

from ...scoring import found

ANNOUNCED = [
    ("The answer is: 12", "12", True),
    ("The answer is:12", "12", True),
    ("The answer is 12", "12", True),
    ("The final answer is 12", "12", True),
    ("The final answer is: 12", "12", True),
    ("The final answer is:12", "12", False),  # none of the prefixes: a space is missing
    ("the answer is: 12", "12", False),  # case counts
    ("The answer is : 12", "12", False),  # what is left is ": 12"
    ("The answer is:\n12", "12", True),  # space around what follows is nothing
    ("Not The answer is: 11, but The answer is: 12", "12", True),  # the last counts
    ("The answer is: The final answer is 12", "12", True),  # in the order of the prefixes
    ("The answer is 11. The final answer is 12", "12", True),
    ("The final answer is 12. The answer is 11", "12", False),
    ("The answer is: 12 (The answer is 13", "13", True),  # a later prefix cuts again
    ("12", "12", True),  # without a prefix the whole text is the answer
    ("That is what I get:\n12", "12", False),
    ("The answer is:", "", True),
    ("", "", True),
    ("   \n ", "", True),
]

LINES_AND_STOPS = [
    ("The answer is: no.", "no", True),
    ("The answer is: no..", "no", True),  # one stop goes early, one late
    ("The answer is: no...", "no", False),
    ("The answer is: no.\nFor it rains.", "no", True),
    ("The answer is: no \nFor it rains", "no", False),  # the space before the line's end stays
    ("The answer is: 12 \nFor it rains", "12", True),  # but numbers do not mind
    ("The answer is: no\r\nFor it rains", "no", False),
    ("The answer is: no\u2028For it rains", "no", False),  # only \n ends a line
    ("The answer is: It sank.", "It sank.", False),  # a reference keeps its stop
    ("The answer is: It sank...", "It sank.", True),
    ("The answer is: .5", "0.5", True),
    ("The answer is: no !", "no", False),
]

DRESSED = [
    ("The answer is: **no**", "no", True),
    ("The answer is: **no.**", "no", True),
    ("The answer is: **no**.", "no", True),
    ("The answer is: *no*", "no", False),
    ("**The answer is: no**", "no", True),
    ("**The answer is:** no", "no", False),  # what is left is " no"
    ("**The answer is:** 12", "12", True),
    ("The answer is: n**o", "no", True),
    ("The answer is: \\boxed{12}", "12", True),
    ("The answer is: \\boxed{12.}", "12", True),
    ("The answer is: $\\boxed{12}$", "12", True),
    ("The answer is: $\\boxed{12}.$", "12", False),
    ("The answer is: $12$", "12", True),
    ("The answer is: $12", "12", False),
    ("The answer is: $$12$$", "12", False),  # one pair goes
    ("The answer is: $", "", True),
    ("The answer is: \\text{yes}", "yes", True),
    ("The answer is: \\texttt{yes}", "yes", True),
    ("The answer is: \\textbf{yes}", "yes", False),
    ("The answer is: \\boxed{\\text{yes}}", "yes", True),
    ("The answer is: \\text{\\boxed{yes}}", "yes", False),  # a brace stays: "yes}"
    ("The answer is: \\texttt{\\text{yes}}", "yes", False),
    ("The answer is: \\boxed{3} or \\boxed{4}", "3} or \\", True),  # between first and second
    ("The answer is: \\boxed{12} metres", "12", False),
    ("The answer is: \\boxed{12}\nDone.", "12", False),  # LaTeX goes before the line is cut
    ("The answer is: \\Boxed{12}", "12", False),
    ("The answer is: \\boxed{**12**}", "12", True),
    ("The answer is: }", "}", True),
]

LETTERS = [
    ("The answer is: (B)", "(B)", True),
    ("The answer is: b", "(B)", True),
    ("The answer is: (b)", "B", True),
    ("The answer is: (B", "(B)", False),
    ("The answer is: [B]", "(B)", False),  # stops at the reference in round brackets
    ("The answer is: (BC)", "BC", False),
    ("The answer is: (7)", "7", True),
    ("The answer is: (7)", "7.0", False),  # stops at the answer in round brackets
    ("The answer is: ( )", " ", False),
]

NUMBERS = [
    ("The answer is: 7", "7.0", True),
    ("The answer is: +7", "7", True),
    ("The answer is: 7e0", "7", True),
    ("The answer is: 7,000", "7000", False),  # no commas in numbers
    ("The answer is: 7_000", "7000", True),  # but Python's underscores
    ("The answer is: -0", "0", True),
    ("The answer is: 0.1", "0.10000000000000000001", True),  # the same double
    ("The answer is: 1/2", "0.5", False),
    ("The answer is: \N{ARABIC-INDIC DIGIT SEVEN}", "7", True),  # digits of any script
    ("The answer is: \N{FULLWIDTH DIGIT SEVEN}", "7", True),
    ("The answer is: \N{MINUS SIGN}7", "-7", False),  # a minus sign that is no hyphen
    ("The answer is: inf", "Infinity", True),
    ("The answer is: 1e400", "1e500", True),
    ("The answer is: 1e-400", "0", True),
    ("The answer is: nan", "nan", True),  # the same text
    ("The answer is: +nan", "nan", False),  # nan is not nan
    ("The answer is: 7 apples", "7", False),
]

LISTS_QUOTES_QUESTIONS = [
    ("The answer is: 1, 2, 3", "1,2,3", True),
    ("The answer is: 1,  2, 3", "1,2,3", False),  # one space goes
    ("The answer is: 1,\n2", "1,2", False),
    ("The answer is: 1,** 2", "1,2", False),  # commas come before bold type
    ("The answer is: [1, 2]", "1, 2", True),
    ("The answer is: 1, 2", "[1, 2]", True),
    ("The answer is: [[1, 2]]", "1, 2", False),
    ("The answer is: [", "[", True),
    ("The answer is: 'ship'", "ship", True),
    ("The answer is: ship", "'ship'", True),
    ('The answer is: "ship"', "ship", False),  # only this kind of quote
    (
        "The answer is: \N{LEFT SINGLE QUOTATION MARK}ship\N{RIGHT SINGLE QUOTATION MARK}",
        "ship",
        False,
    ),
    ("The answer is: ['ship']", "ship", False),  # one allowance at a time
    ("The answer is: ship?", "ship", True),
    ("The answer is: ship??", "ship", False),
    ("The answer is: ship", "ship?", False),  # in one direction
    ("The answer is: '7'", "7.0", False),
    ("The answer is: SHIP", " Ship ", True),
    ("The answer is: straße", "STRASSE", False),  # lower case, not folded
    ("The answer is: İ", "i̇", True),
]


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [*ANNOUNCED, *LINES_AND_STOPS, *DRESSED, *LETTERS, *NUMBERS, *LISTS_QUOTES_QUESTIONS],
)
def test_the_verdict_is_the_original_one(answer: str, reference: str, right: bool) -> None:
    assert bbeh(answer, reference, {}).value == float(right)


def test_a_score_says_what_was_compared_and_whether_it_was_announced() -> None:
    wrong = bbeh("I think so. The answer is: **Left**", "Right", {})
    assert (wrong.value, wrong.reason) == (0.0, "'left' is not 'right'")
    assert wrong.measures == {"prefixed": 1.0}
    right = bbeh("left", "Left", {})
    assert (right.value, right.reason) == (1.0, "'left' is 'left'")
    assert right.measures == {"prefixed": 0.0}
    assert len(bbeh("x" * 1000, "y" * 1000, {}).reason) < 200


def test_tasks_name_it_and_references_may_be_numbers() -> None:
    task = Task(id="sum", query="4 + 3?", answer=7, scorer=ScorerChoice(name="bbeh"))
    assert found(task, "Four and three. The answer is: 7.0").value == 1


texts = st.lists(
    st.one_of(
        st.sampled_from([*PREFIXES, "boxed{", "text{", "}", "$", "**", ".", ", ", "\n", "(a)"]),
        st.text(max_size=4),
    ),
    max_size=8,
).map("".join)
words = st.text("abcxyz0189", min_size=1)


@given(before=texts, answer=texts)
def test_nothing_before_the_prefix_counts(before: str, answer: str) -> None:
    announced = f"The answer is:{answer}"
    assert conclusion(before + announced) == conclusion(announced)


@given(words, st.sampled_from(PREFIXES), words)
def test_nothing_after_the_line_counts(word: str, prefix: str, after: str) -> None:
    assert conclusion(f"{prefix}{word}\n{after}") == word


@given(words, st.sampled_from(PREFIXES))
def test_plain_words_are_right_however_they_are_dressed(word: str, prefix: str) -> None:
    forms = ["{}", "{}.", "**{}**", "**{}**.", "'{}'", "[{}]", "{}?", "${}$", "\\boxed{{{}}}."]
    for form in forms:
        assert bbeh(prefix + form.format(word), word.upper(), {}).value == 1, form


@given(st.characters(exclude_characters="\n"), texts)
def test_one_character_in_brackets_is_that_character(character: str, other: str) -> None:
    assert agree(f"({character})", character)
    assert agree(character, f"({character})")
    if other not in {character, f"({character})"}:
        assert not agree(f"({character})", other)


@given(st.floats(allow_nan=False), st.sampled_from(["{!r}", "+{!r}", "{:e}", "{:.20g}", " {!r} "]))
def test_numbers_are_compared_as_doubles(number: float, form: str) -> None:
    text = form.format(abs(number))
    assert agree(text, repr(abs(number))) == (float(text) == abs(number))


@pytest.mark.parametrize(
    "answer",
    [
        "}" * 100_000,
        "*" * 100_000,
        "boxed{" * 15_000 + "}",
        "text{texttt{boxed{" * 5_000 + "}}}",
        "The answer is: " * 7_000,
        "".join(PREFIXES) * 1_500,
        "The answer is" * 8_000,
        "x" + " " * 100_000 + "x",
        "\n" * 100_000,
        "9" * 100_000,
        "0." + "0" * 100_000 + "1",
        "1_" * 50_000 + "1",
        "1e" + "9" * 100_000,
        "٣" * 100_000,
        ", " * 50_000,
        "İ" * 100_000,
        "\ud800" * 100_000,
        "\0" * 100_000,
    ],
    ids=lambda answer: ascii(answer[:12]),
)
def test_long_hostile_answers_cost_next_to_nothing(answer: str) -> None:
    for text, reference in [(answer, "7"), ("7", answer), (answer, "nan")]:
        assert bbeh(text, reference, {}).value == 0


def test_long_numbers_are_read_to_the_end() -> None:
    assert bbeh("9" * 100_000, "inf", {}).value == 1
    assert bbeh("0." + "0" * 100_000 + "1", "0", {}).value == 1
    assert bbeh("0" * 100_000 + "7", "7", {}).value == 1


def test_a_reference_is_brought_into_the_same_form_but_for_its_stop() -> None:
    assert expectation(" A, B.\n") == "a,b."
    assert conclusion(" A, B.\n") == "a,b"
