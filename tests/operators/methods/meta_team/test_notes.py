"""What an agent may write of itself: names that are no paths, and each thing kept or refused."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.meta_team.notes import OwnNotes, name_of
from coterie.operators.methods.meta_team.room import NoteLimits
from coterie.schema.team.team import Notes, Skill

from ...asking import llm

OLD = Notes(patches={"units": "Do."}, skills={"sums": Skill(description="Adds.", body="Add.")})
SOLVER = replace(llm("solver"), notes=OLD)


def read(*items: Any, **room: int) -> OwnNotes:
    return OwnNotes(agent=SOLVER, room=NoteLimits(**room), most=4).read(items)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Check units!", "check_units"),
        ("../../etc/passwd", "etc_passwd"),
        ("Überprüfen", "uberprufen"),
        ("7 rules", "rules"),
        ("x" * 60, "x" * 40),
        ("…", ""),
    ],
)
def test_a_name_is_made_of_what_something_is_called(text: str, name: str) -> None:
    assert name_of(text) == name


@given(st.text(max_size=80))
def test_a_name_is_an_id_or_nothing_and_stays_itself(text: str) -> None:
    name = name_of(text)
    assert re.fullmatch(r"([a-z][a-z0-9_]{0,39})?", name)
    assert name_of(name) == name


def test_notes_are_added_written_anew_and_forgotten() -> None:
    result = read(
        {"patch": {"name": "units", "text": "Write\nthe unit."}},
        {"skill": {"name": "Check", "description": "Checks.", "text": "1. Add.\n2. Compare."}},
        {"forget": {"note": "skill", "name": "sums"}},
    )
    assert result.refused == []
    texts = {place: edit.text for place, edit in result.edits.items()}
    assert texts == {
        ("patch", "units"): "Write the unit.",
        ("skill", "check"): "1. Add.\n2. Compare.",
        ("skill", "sums"): "",
    }
    assert {edit.agent for edit in result.edits.values()} == {"solver"}


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (7, "a note is"),
        ({"patch": 1}, "no fields"),
        ({"set_note": {"constitution": "x"}}, "there is patch, skill and forget"),
        ({"patch": {"name": "x", "text": "y", "agent": "writer"}}, "exactly name, text"),
        ({"patch": {"name": 7, "text": "y"}}, "all of them texts"),
        ({"patch": {"name": "…", "text": "y"}}, "is not a valid name"),
        ({"patch": {"name": "x", "text": " - "}}, "says nothing"),
        ({"patch": {"name": "x", "text": "y" * 700}}, "at most 600"),
        ({"skill": {"name": "x", "description": "", "text": "y"}}, "says nothing"),
        ({"forget": {"note": "patch"}}, "exactly name, note"),
        ({"forget": {"note": "teammate", "name": "writer"}}, "to forget"),
    ],
)
def test_what_is_no_note_is_refused_with_its_reason(item: Any, why: str) -> None:
    result = read(item)
    assert result.edits == {}
    [refused] = result.refused
    assert why in refused.reasons[0]


def test_a_name_stands_for_one_note() -> None:
    twice = [{"patch": {"name": word, "text": "Do so."}} for word in ("Unit!", "unit")]
    forget = {"forget": {"note": "patch", "name": "units"}}
    result = read(*twice, forget, forget)
    assert len(result.edits) == 2
    assert [why for item in result.refused for why in item.reasons] == [
        "patch unit: there are two of that name. Give them names of their own.",
        "patch units: it is decided twice. Write it or forget it.",
    ]


def test_only_so_many_are_written_at_once() -> None:
    result = read(
        *({"patch": {"name": f"rule {chr(97 + number)}", "text": "Do."}} for number in range(6))
    )
    assert (len(result.edits), len(result.refused)) == (4, 2)


def test_who_forgets_a_note_has_room_for_another() -> None:
    new = {"patch": {"name": "sums", "text": "Add twice."}}
    assert read(new, patches=1).edits == {}
    result = read(new, {"forget": {"note": "patch", "name": "units"}}, patches=1)
    assert (len(result.edits), result.refused) == (2, [])
