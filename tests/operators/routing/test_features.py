"""What is counted in a task."""

from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.routing import COMPUTED, computed
from coterie.schema import Task

CASE = """A patient of 45 years has:
- fever of 39.5 degrees
- 3 swollen joints, 3 days
1. a rash

What is it?
A) flu
B) lupus
"""


def test_it_counts_what_stands_there() -> None:
    assert computed(Task(id="t", query=CASE, files={"lab.txt": "17"})) == {
        "words": 27,
        "lines": 7,
        "items": 3,
        "options": 2,
        "numbers": 5,
        "distinct_numbers": 4,
        "questions": 1,
        "files": 1,
    }


def test_the_context_counts_and_the_answer_does_not() -> None:
    bare = computed(Task(id="t", query="Why?"))
    assert computed(Task(id="t", query="Why?", answer="because of 7")) == bare
    assert computed(Task(id="t", query="Why?", context="There were 7."))["numbers"] == 1


def test_a_number_is_one_however_it_is_written() -> None:
    assert computed(Task(id="t", query="1,234.5 of b12 and 1.234 at v2.0"))["numbers"] == 2


@given(st.text())
def test_every_text_has_every_feature_and_none_is_below_0(text: str) -> None:
    result = computed(Task(id="t", query=text))
    assert tuple(result) == COMPUTED
    assert all(value >= 0 for value in result.values())
    assert result["distinct_numbers"] <= result["numbers"]
