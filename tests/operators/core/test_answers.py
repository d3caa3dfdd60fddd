"""Reading answers: whatever a text is, it is read or it is unfit, and nothing else happens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators import Bounds
from coterie.operators.core.answers import InvalidAnswer, edits_in, structured
from coterie.schema.edits import SetModel
from coterie.schema.edits.offer.strict import closed


def test_an_answer_may_stand_in_prose_and_fences() -> None:
    text = 'Here:\n```json\n{"edits": [{"set_model": {"agent": "a", "model_id": "m"}}]}\n```\nBye.'
    assert edits_in(text, Bounds(), ("model_id",)) == ("", (SetModel(agent="a", model_id="m"),))


@pytest.mark.parametrize("depth", [1, 100, 10_000])
def test_no_depth_is_too_much(depth: int) -> None:
    with pytest.raises(InvalidAnswer):
        edits_in('{"edits": [' + "[" * depth + "]" * depth + "]}", Bounds(), ("prompts",))


def test_no_depth_at_the_edge_of_what_can_be_read_is_too_much() -> None:
    """What the parser just manages, the writer may not."""
    choice = closed(word={"type": "string"})
    for depth in range(850, 1_000):
        with pytest.raises(InvalidAnswer):
            edits_in('{"edits": [' + "[" * depth + "]" * depth + "]}", Bounds(), ("prompts",))
        with pytest.raises(InvalidAnswer):
            structured('{"word": ' + "[" * depth + "]" * depth + "}", choice, Bounds())


def test_half_a_character_is_refused() -> None:
    text = '{"edits": [{"set_prompt": {"agent": "a", "prompt": "half \\ud800 a sign"}}]}'
    with pytest.raises(InvalidAnswer) as unfit:
        edits_in(text, Bounds(), ("prompts",))
    assert "surrogate" in unfit.value.problems[0] or "character" in unfit.value.problems[0]


def test_a_reason_of_any_length_will_do_and_is_cut() -> None:
    schema = closed(reason={"type": "string", "minLength": 1, "maxLength": 5})
    bounds = Bounds(reason=5)
    assert structured('{"reason": ""}', schema, bounds) == {"reason": ""}
    assert structured('{"reason": "long\\nwinded"}', schema, bounds) == {"reason": "long "}


@given(st.text())
def test_any_text_is_read_or_unfit(text: str) -> None:
    with pytest.raises(InvalidAnswer) as unfit:
        edits_in(text, Bounds(), ("prompts",))
    assert unfit.value.problems
