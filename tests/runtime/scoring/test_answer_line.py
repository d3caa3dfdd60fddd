"""The form of an answer: what stands after the last `Answer:`, else the whole text."""

import pytest

from coterie.runtime.scoring.answer_line import answer_line, readings


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Steps.\nAnswer: 42", "42"),
        ("answer : 42\nI hope that this helps, in 3 ways.", "42"),
        ("Answer: 41\nNo.\n**Final answer:** 42", "42"),
        ("**Answer: 42**", "42"),
        ("### Answer\nnone\n> _Answer:_ **42**", "42"),
        ("- Answer: __init__", "__init__"),
        ("Answer:\n\n1. Marfan\n2. Loeys\n", "1. Marfan\n2. Loeys"),
        ("The answer: 42", None),
        ('{\n"answer": 42\n}', None),
        ("Answer:", None),
        ("", None),
    ],
)
def test_the_last_line_that_begins_with_answer_holds_it(text: str, held: str | None) -> None:
    assert answer_line(text) == held
    assert readings(text) == ((text,) if held is None else (held, text))
