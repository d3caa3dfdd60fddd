"""Who looks back in the world answers what an operator asks, in the shape that is wanted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators.core.material import fenced, material
from coterie.runtime.gateway import ChatRequest
from studies.retrospect.landscapes import drawn
from studies.retrospect.looking import looked_back, operator_of
from studies.retrospect.texts import absent_said, posed
from studies.retrospect.world import order_of, title

WORLD = replace(drawn(5), heard=1.0)
ORDER = order_of(WORLD, title("learn", 5, 0))
CRAFT = str(WORLD.missing)
ID = {"like": {"enum": ["foreman"]}, "id": {}, "role": {}, "prompt": {}}
COME = {"maxItems": 1, "items": {"properties": ID}}


def asked(shown: str, *more: str, **properties: Any) -> ChatRequest:
    texts = ["What follows from it?", shown, *more]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(("system", "user", "assistant", "user"), texts, strict=False)
    ]
    return ChatRequest(model="meta", messages=messages, schema={"properties": properties})


def reorganised(*more: str, **properties: Any) -> dict[str, Any]:
    shown = material(
        fenced("task", posed(ORDER)),
        fenced("team", "\n".join(f"{one.craft}: a craft" for one in WORLD.members)),
        fenced("found", f"foreman: {absent_said(CRAFT)}"),
    )
    lists = {"reason": {}, "rules": {"maxItems": 3}, "retry": {}, **properties}
    return json.loads(looked_back(WORLD, asked(shown, *more, **lists)))


def test_a_team_that_has_no_room_takes_nobody_in() -> None:
    came = reorganised(come=COME, go={"maxItems": 1})
    assert [one["id"] for one in came["come"]] == [CRAFT]
    assert (came["retry"], came["go"], came["rules"]) == (True, [], [])
    full = reorganised()
    assert "come" not in full
    assert full["retry"] is False


def test_who_is_told_that_something_is_wrong_with_an_answer_says_the_same_again() -> None:
    assert reorganised("an answer", "It is wrong.", come=COME) == reorganised(come=COME)


def test_who_asks_shows_in_the_shape_of_the_answer() -> None:
    assert operator_of(None) is None
    assert operator_of({"properties": {"acts": {}, "report": {}}}) is None
    assert operator_of({"properties": {"reason": {}, "notes": {}, "summary": {}}}) == "retrospect"
    with pytest.raises(ValueError, match="nobody in the world asks this"):
        looked_back(WORLD, asked(fenced("task", posed(ORDER)), thoughts={}))
