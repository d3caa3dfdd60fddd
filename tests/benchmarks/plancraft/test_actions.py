"""Reading actions; what is told of unreadable ones is in the recorded episodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.plancraft import Impossible, Transfer, read_action
from coterie.benchmarks.plancraft.actions import slot_name
from studies.plancraft.players import UNREADABLE

SLOTS = st.integers(0, 45)
TRANSFERS = st.builds(
    Transfer,
    kind=st.sampled_from(["move", "smelt"]),
    source=SLOTS,
    target=st.integers(1, 45),
    quantity=st.integers(1, 64),
).filter(lambda item: item.source != item.target)
WORDS = st.text(st.characters(exclude_categories=["Nd", "Cs"], exclude_characters="[]:"))


def written(action: Transfer) -> str:
    slots = f"from {slot_name(action.source)} to {slot_name(action.target)}"
    return f"{action.kind}: {slots} with quantity {action.quantity}"


@given(TRANSFERS, WORDS, WORDS)
def test_an_action_is_read_wherever_it_stands(action: Transfer, before: str, after: str) -> None:
    assert read_action(f"{before}{written(action)} {after}") == action


@given(st.one_of(st.text(), st.sampled_from(UNREADABLE)))
def test_any_text_is_an_action_or_gets_an_answer(text: str) -> None:
    assert isinstance(read_action(text), Transfer | Impossible | str)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("impossible: no wool\nat all", Impossible(reason="no wool")),
        ("impossible: ", Impossible(reason="")),
        (
            "smelt: from [I1] to [I2] with quantity 2 move: ",
            Transfer(kind="move", source=10, target=11, quantity=2),
        ),
        (
            "move: from [I1] to [A1] with quantity 12 from [I9] to [A2] with quantity 5",
            Transfer(kind="move", source=10, target=1, quantity=12),
        ),
    ],
)
def test_of_several_the_first_parts_count(text: str, action: Transfer | Impossible) -> None:
    assert read_action(text) == action
