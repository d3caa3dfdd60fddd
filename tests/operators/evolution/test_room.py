"""Whether a budget has room for one more task, and for the calls after it."""

from typing import Any

import pytest

from coterie.operators.evolution.room import has_room
from coterie.runtime.values.caps import Caps
from coterie.runtime.values.usage import Usage


def line(calls: int, tokens: int, usd: float) -> dict[str, Any]:
    """Return the line of a task whose runs took this, and its judge one call of 10 tokens."""
    runs = Usage(calls=calls, prompt_tokens=tokens, usd=usd)
    judging = Usage(calls=1, prompt_tokens=10)
    return {"usage": runs.value(), "operators": Usage().value(), "judging": judging.value()}


LINES = [line(3, 30, 0.5), line(4, 90, 0.25)]
"""Nine calls, 140 tokens, and 0.75 USD."""


@pytest.mark.parametrize(
    ("caps", "room"),
    [
        (Caps(calls=21), True),
        (Caps(calls=20), False),
        (Caps(tokens=380), True),
        (Caps(tokens=379), False),
        (Caps(usd=2), True),
        (Caps(usd=1.99), False),
        (Caps(calls=21, tokens=379), False),
        (Caps(seconds=1), True),
        (Caps(), True),
    ],
)
def test_tasks_take_what_the_dearest_took_and_calls_one_of_its(caps: Caps, room: bool) -> None:
    assert has_room(caps, LINES, tasks=2, calls=2) is room
