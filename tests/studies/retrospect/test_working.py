"""Who is at work in the world: what it does, and how that is written."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from dataclasses import replace
from typing import Any

from coterie.runtime.agents.acts import Finalize, Send, Start
from studies.retrospect.acting import Form
from studies.retrospect.landscapes import CRAFTS, Landscape, drawn, sound
from studies.retrospect.names import LEAD
from studies.retrospect.tasks import MESSAGES, graded
from studies.retrospect.texts import (
    LEADING,
    idle_said,
    instructions,
    other_counted_said,
    posed,
    rule_said,
)
from studies.retrospect.working import Turn
from studies.retrospect.world import Order, order_of, title

WORLD = replace(drawn(3), able=1 - 1e-9, stranger=1e-9, misread=1e-9, vague=1e-9, stray=1.0)
ORDER = order_of(WORLD, title("test", 3, 0))
ONE, OTHER, THIRD, FOURTH = WORLD.members
AT_FIRST = {LEAD: LEADING, **{one.craft: instructions(one) for one in WORLD.members}}


def handed_in(
    order: Order, team: dict[str, str], world: Landscape = WORLD
) -> tuple[str, int, defaultdict[str, str]]:
    """Have a team work that starts each other: what comes of it, after how many messages."""
    heard, said = defaultdict[str, str](str), defaultdict[str, str](str)
    heard.update(dict.fromkeys(team, posed(order)))
    waiting, sent, active = deque([LEAD]), 0, {LEAD}
    while waiting:
        agent = waiting.popleft()
        turn = Turn(
            world=world,
            order=order,
            instructions=team[agent],
            heard=heard[agent],
            said=said[agent],
            present=[one for one in CRAFTS if one in team and one not in active],
        )
        for act in turn.acts():
            if isinstance(act, Finalize):
                return act.answer, sent, heard
            assert isinstance(act, Send | Start)
            to = act.agent if isinstance(act, Start) else act.to
            said[agent] += f" {act.text}"
            heard[to] += f" {act.text}"
            sent += 1
            active.add(to)
            waiting.append(to)
    raise AssertionError("nobody handed in")


def sorts_right(order: Order, team: dict[str, str]) -> dict[str, float]:
    answer, _, _ = handed_in(order, team)
    return {
        sort: sum(f"Part {one.number}: {one.answer}." in answer for one in of) / len(of)
        for sort in ("plain", "missing", "misread", "vague")
        if (of := [one for one in order.parts if one.sort == sort])
    }


def test_a_team_fails_at_first_at_all_that_something_is_in_the_way_of() -> None:
    came = sorts_right(ORDER, AT_FIRST)
    assert came == {"plain": 1, "missing": 0, "misread": 0, "vague": 0}
    answer, sent, _ = handed_in(ORDER, AT_FIRST)
    assert sent <= MESSAGES
    assert graded(answer, ORDER.answer, {}).value == 3 / 8
    whole = replace(sound(3), able=1 - 1e-9)
    order = order_of(whole, title("test", 3, 0))
    team = {LEAD: LEADING, **{one.craft: instructions(one) for one in whole.members}}
    assert graded(handed_in(order, team, whole)[0], order.answer, {}).value == 1


def test_each_defect_is_mended_by_what_is_noted_where_it_belongs() -> None:
    newcomer = f"You are the {WORLD.missing} of a yard."
    assert sorts_right(ORDER, {**AT_FIRST, str(WORLD.missing): newcomer})["missing"] == 1
    notes = {
        ONE.craft: other_counted_said(OTHER.craft, OTHER.rod),
        OTHER.craft: other_counted_said(ONE.craft, ONE.rod),
        THIRD.craft: rule_said(str(FOURTH.need)),
        FOURTH.craft: rule_said(str(THIRD.need)),
    }
    for craft, note in notes.items():
        mended = sorts_right(ORDER, {**AT_FIRST, craft: f"{AT_FIRST[craft]} {note}"})
        sort = "misread" if craft in {ONE.craft, OTHER.craft} else "vague"
        other = "vague" if sort == "misread" else "misread"
        assert (mended[sort], mended[other], mended["missing"]) == (0.5, 0, 0)
    elsewhere = {one: f"{AT_FIRST[one]} {' '.join(notes.values())}" for one in [LEAD]}
    assert sorts_right(ORDER, {**AT_FIRST, **elsewhere}) == sorts_right(ORDER, AT_FIRST)


def test_needless_candidates_are_given_parts_and_idle_rules_clutter() -> None:
    needless = next(one for one in CRAFTS if one not in WORLD.crafts)
    came = sorts_right(ORDER, {**AT_FIRST, needless: f"You are the {needless} of a yard."})
    assert came == {"plain": 0, "missing": 0, "misread": 0, "vague": 0}
    cluttered = {one: f"{text} {idle_said(1)}" for one, text in AT_FIRST.items()}
    worse = replace(WORLD, clutter=40.0)
    answer, _, _ = handed_in(ORDER, cluttered, worse)
    assert graded(answer, ORDER.answer, {}).value == 0


def test_who_waits_does_nothing_and_says_what_it_has_when_it_is_over() -> None:
    [craft] = {one.craft for one in ORDER.parts if one.sort == "missing"}
    turn = Turn(
        world=WORLD,
        order=ORDER,
        instructions=LEADING,
        heard=posed(ORDER),
        said=" ".join(f"Part {n} is for the {ONE.craft}." for n in range(1, 8)),
    )
    assert turn.acts() == ()
    letters = turn.letters()
    assert [letters[n] for n in range(1, 8)] == ["-"] * 7
    assert letters[8] != "-"
    alone = replace(turn, instructions=instructions(ONE), said="", is_open=False)
    own = [one.number for one in ORDER.parts if one.craft == ONE.craft]
    assert [*alone.letters()] == own
    assert craft not in AT_FIRST


def test_an_act_that_is_not_possible_is_left_out() -> None:
    def form(**kinds: dict[str, Any]) -> Form | None:
        items = [
            {"properties": {"act": {"const": name}, **fields}} for name, fields in kinds.items()
        ]
        return Form.of({"properties": {"acts": {"items": {"anyOf": items}}, "report": {}}})

    one = form(start_agent={"agent": {"enum": ["smith", "mason"]}, "text": {}})
    assert one is not None
    assert one.candidates == {"smith", "mason"}
    acts = [Start(agent="smith", text="a"), Start(agent="painter", text="b"), Finalize(answer="c")]
    assert json.loads(one.written(acts, "d")) == {
        "acts": [{"act": "start_agent", "agent": "smith", "text": "a"}],
        "report": "d",
    }
    over = Form.of({"properties": {"acts": {"type": "array", "maxItems": 0}, "report": {}}})
    assert over is not None
    assert not over.kinds
    other = form(finalize={"answer": {}}, send={"to": {"enum": ["mason"]}, "text": {}})
    assert other is not None
    told = [Send(to="mason", text="a"), Send(to="smith", text="b"), Finalize(answer="c")]
    assert [one["act"] for one in json.loads(other.written(told, ""))["acts"]] == [
        *("send", "finalize")
    ]
    assert Form.of(None) is None
    assert Form.of({"properties": {"answer": {}}}) is None
