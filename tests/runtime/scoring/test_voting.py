"""Votes of long answers: which texts say the same, and who wins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.scoring import functions
from coterie.runtime.scoring.voting import conclusion, picks, vote
from coterie.schema import AgentError, ScorerChoice, Task

from ...support.teams import reports

TASK = Task(id="t", query="?")
NUMBER = Task(id="t", query="?", scorer=ScorerChoice(name="number"))

SUM = '''Here it is.
```python
def add(a, b):
    """Add two numbers."""
    return a + b
```
'''
SAME_SUM = """```py
def add(a,  b):  # the sum

    return (a
            + b)
```
That adds."""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("So \\boxed{\\dfrac{1}{2}}.", "It is $\\boxed{ \\frac12 }$"),
        ("\\boxed{\\frac{1}{2}}", "\\boxed{1/2}"),
        ("\\boxed{1{,}000}", "\\boxed{1,000.0}"),
        ("\\boxed{\\left( 1, 2 \\right)}", "\\boxed{(1,2)}"),
        ("\\boxed{\\text{Evelyn}}", "\\boxed{Evelyn}"),
        ("\\boxed{3} no: \\boxed{4}", "\\boxed{4}\nas 2 + 2 is."),
        ("\\boxed{72}", "Answer: 72"),
        ("It takes steps.\n\n72", "Other steps.\n$72.00"),
        ("Steps.\n#### 1,200", "Steps.\n**1200**"),
        ("Steps.\nAnswer: Paris", "**Final answer:** paris."),
        ("So the answer is Paris.", "Paris"),
        ('{"answer": "Paris"}', "I think of France.\nparis"),
        ("Answer: 007", "7"),
        ("-0.0", "0"),
        ("```\nx y\n\nz\n```", "```text\nx y  \nz\n```"),
        ("```\nit's\n```", "```\nit's  \n```"),
        ("```\nf(\n\n```", "```\nf(  \n```"),
    ],
)
def test_answers_that_say_the_same_come_down_to_the_same(first: str, second: str) -> None:
    assert conclusion(first, TASK) == conclusion(second, TASK)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("\\boxed{x}", "\\boxed{X}"),
        ("\\boxed{\\frac{1}{2}}", "\\boxed{0.5}"),
        ("\\boxed{12}", "\\boxed{1/2}"),
        ("King George 2", "Queen Elizabeth 2"),
        ("\\boxed{\\{1\\}}", "\\boxed{1}"),
        ("7\n\nparis", "7\n\nlondon"),
        ("-3", "3"),
        ("\\boxed{5!}", "\\boxed{5}"),
        ("\\boxed{50\\%}", "\\boxed{50}"),
        ("0.1", "0.10000000000000000000000000001"),
        (SUM, SUM.replace("a + b", "a - b")),
        ("```\n'a'.join(x)\n```", "```\n'b'.join(x)\n```"),
        ("```\nif a:\n    b()\nc()\n```", "```\nif a:\n    b()\n    c()\n```"),
        ("```\na\n```\nAnswer: 1", "```\na\n```\nAnswer: 2"),
    ],
)
def test_answers_that_say_something_else_do_not(first: str, second: str) -> None:
    assert conclusion(first, TASK) != conclusion(second, TASK)


def test_code_is_the_same_without_comments_docstrings_and_layout() -> None:
    bare = SAME_SUM.replace("(a\n            + b)", "a + b")
    assert conclusion(SUM, TASK) == conclusion(bare, TASK)
    assert conclusion(SUM, TASK) != conclusion(SAME_SUM, TASK)  # brackets are words of it


def test_of_a_task_that_is_scored_by_a_number_the_last_number_counts() -> None:
    first, second = "She sold 72 clips altogether.", "In total: 72 of them"
    assert conclusion(first, TASK) != conclusion(second, TASK)
    assert conclusion(first, NUMBER) == conclusion(second, NUMBER)
    assert conclusion("none", NUMBER) == conclusion("None.", NUMBER)


def test_the_vote_gives_the_first_report_of_most() -> None:
    long = "By parts.\n\n\\boxed{4}"
    assert vote(reports("\\boxed{3}", long, "It is $\\boxed{4.0}$."), TASK) == long
    assert vote(reports("a", "b", "c"), TASK) == "a"  # nobody agrees: the first
    assert vote(reports("", "b"), TASK) == "b"
    assert vote(reports(" ", ""), TASK) == ""
    with pytest.raises(AgentError, match="vote: no colleague reported"):
        vote((), TASK)


def test_votes_pick_an_answer_and_so_does_who_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("vote", "majority", "concat")
    assert [picks(name) for name in names] == [True, True, False]
    monkeypatch.setattr(functions.concat, "picks", True, raising=False)
    assert picks("concat")


PARTS = [*"\\{}`\n \t'\"#:-.,17ae", "```\n", "Answer:", "\\boxed{", "def a():\n"]
HARD = st.lists(st.sampled_from(PARTS)).map("".join)


@given(HARD)
def test_whatever_an_answer_holds_it_comes_down_to_something(text: str) -> None:
    assert conclusion(text, TASK) == conclusion(text, TASK)
    assert vote(reports(text, text, "other"), TASK) in {text.strip(), "other"}


@pytest.mark.parametrize(
    "part", ["\\boxed{", "```\n", "```a\n", "1,", "{", "'", "answer: ", "*", "(\n "]
)
def test_a_long_answer_is_read_in_no_time(part: str) -> None:
    assert conclusion(part * 20_000, TASK)
