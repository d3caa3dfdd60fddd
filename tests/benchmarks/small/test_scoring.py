"""The scorers `letter`, `mention` and `sequence`: which answers count as right."""

import pytest

from coterie.schema import ScorerChoice, Task

from ...scoring import found


def value(name: str, answer: str, reference: object, **options: object) -> float:
    task = Task(
        id="t", query="?", answer=reference, scorer=ScorerChoice(name=name, options=options)
    )
    result = found(task, answer)
    assert result.reason
    return result.value


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("B", "B"),
        (" b ", ""),
        ("(B)", "B"),
        ("B.", "B"),
        ("**B**", "B"),
        ("**(B)** It is so.", "B"),
        ("B) Vitamin C.", "B"),
        ("(A) I have no comment.", "A"),
        ("A. I have no comment.", "A"),
        ("(C) A fever is no illness.", "C"),
        ("The answer is B.", "B"),
        ("The answer is **B**, not C", "C"),
        ("I think that it is B", "B"),
        ("A cat is not a dog", ""),
        ("First I thought (A), but it is (D).", "D"),
        ("Not (E)", ""),
        ("A: this\nB: that\n\nB", "B"),
        ("", ""),
    ],
)
def test_the_letter_that_stands_for_a_choice_counts(answer: str, chosen: str) -> None:
    right = [name for name in "ABCD" if value("letter", answer, name, letters="ABCD")]
    assert "".join(right) == chosen


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("apple, Fig, pear", 1),
        ("apple,fig,pear.", 1),
        ("['apple', 'fig', \"pear\"]", 1),
        ("Sorted they are: apple, fig, pear", 1),
        ("pear, fig, apple\napple, fig, pear\n", 1),
        ("**apple, fig, pear**", 1),
        ("apple, pear, fig", 0),
        ("apple, fig", 0),
        ("apple, fig, pear, plum", 0),
        ("apple fig pear", 0),
        ("apple, fig, pear\nThat is it.", 0),
        ("", 0),
    ],
)
def test_the_last_line_has_to_be_the_whole_list(answer: str, right: int) -> None:
    assert value("sequence", answer, ["apple", "fig", "pear"]) == right


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Ben", 1),
        ("**ben**", 1),
        ("Ada gives it to Ben.", 1),
        ("Ben gives it to Ada.", 0),
        ("Benjamin", 0),
        ("", 0),
    ],
)
def test_what_is_mentioned_last_counts(answer: str, right: int) -> None:
    assert value("mention", answer, "Ben", among=["Ada", "Ben"]) == right


def test_the_last_date_counts() -> None:
    assert value("mention", "2024-02-28, no: 2024-02-29", "2024-02-29", among="dates") == 1
    assert value("mention", "2024-02-29, no: 2024-02-28", "2024-02-29", among="dates") == 0
    assert value("mention", "February 29, 2024", "2024-02-29", among="dates") == 0


def test_numbers_are_compared_as_they_are_written() -> None:
    assert value("sequence", "3, 20, 100", [3, 20, 100]) == 1
    assert value("sequence", "3, 20, 100.0", [3, 20, 100]) == 0
