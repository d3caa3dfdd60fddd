"""Fusing: one text in the place of two that say almost the same."""

from typing import Any

import pytest

from coterie.operators import Bounds, RejectedProposal
from coterie.operators.methods.evochamber.lifecycle.fusing import fuse
from coterie.runtime.doubles import Reply

from ....asking import Asked, asking, dropped

SAID = {"text": "Carry the one, then check."}


def fusing(*answers: Any, bounds: Bounds | None = None) -> Asked[str | RejectedProposal]:
    return asking(
        [Reply.json(answer) for answer in answers],
        lambda meta: fuse(meta, "f", "Carry the one.", "Check the carry."),
        bounds=bounds,
    )


def test_one_text_comes_of_both_and_both_are_shown_in_their_fences() -> None:
    done = fusing(SAID)
    assert done.result == SAID["text"]
    [call] = done.calls
    assert call.text.index("<earlier ") < call.text.index("<new ")
    assert "Carry the one." in call.text
    assert "Check the carry." in call.text


@pytest.mark.parametrize("bad", [{"text": " "}, {"text": "?!"}, {"text": 1}, {}, [SAID], "both"])
def test_what_says_nothing_is_repaired_once_then_dropped(bad: Any) -> None:
    assert dropped(fusing, bad, SAID).operator == "fuse"


@pytest.mark.parametrize("characters", [60, 4_000])
def test_a_text_is_short(characters: int) -> None:
    result = fusing({"text": "x\n" * 9_000}, bounds=Bounds(characters=characters)).result
    assert isinstance(result, str)
    assert len(result) == min(400, characters)
    assert "\n" not in result
