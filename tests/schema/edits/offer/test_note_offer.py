"""The notes of one agent, for a model to write: it can touch no other agent's, whatever it says."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, Notes, Skill, Team
from coterie.schema.edits import NoteOffer, SetNote, apply

from ...strategies import CATALOGUE, VALUES, fewer
from ..decoder import answer

LEARNT = Notes(
    patches={"units": "Write units."},
    teammates={"b": "Quick."},
    pairs={"b": "Ask first."},
    skills={"nines": Skill(description="Sums.", body="Add.")},
)
TEAM = Team(
    name="t",
    agents={
        "a": Agent(id="a", prompt="Add it up.", notes=LEARNT),
        "b": Agent(id="b", prompt="Check it.", notes=Notes(patches={"x": "Y."})),
    },
    reports_to={"a": ("b",)},
)
KINDS = ("patch", "teammate", "pair", "skill", "coaching")


def offer(**fields: Any) -> NoteOffer:
    record: dict[str, Any] = {"team": TEAM, "agent": "a", "kinds": KINDS, "most": 3, **fields}
    return NoteOffer(**record)


def test_whatever_is_offered_makes_a_team_in_which_nobody_else_changed() -> None:
    for seed in range(60):
        said = answer(offer().schema, random.Random(seed))
        child = apply(TEAM, offer().edits(said), CATALOGUE)
        assert isinstance(child, Team), seed
        assert replace(child, agents={**child.agents, "a": TEAM.agents["a"]}) == TEAM, seed


HOSTILE = VALUES | st.fixed_dictionaries({
    "notes": st.lists(
        st.dictionaries(
            st.sampled_from([*KINDS, "constitution", "forget", "set_note"]),
            st.dictionaries(
                st.sampled_from(["agent", "name", "text", "description", "note"]),
                st.sampled_from(["a", "b", "units", "patch", "constitution", ""]) | VALUES,
                max_size=4,
            ),
            max_size=2,
        ),
        max_size=4,
    )
})  # fmt: skip


@fewer(2)
@given(HOSTILE)
def test_no_answer_reaches_another_agent(reply: Any) -> None:
    try:
        edits = offer().edits(reply)
    except ValueError:
        return
    assert {edit.agent for edit in edits} <= {"a"}
    assert not {edit.note for edit in edits} - {*KINDS}


def test_notes_are_written_anew_and_forgotten_by_their_names() -> None:
    fields = {
        "notes": [
            {"patch": {"name": "units", "text": "First."}},
            {"patch": {"name": "units", "text": "Last."}},
            {"forget": {"note": "skill", "name": "nines"}},
        ]
    }
    assert offer().edits(fields) == (
        SetNote(agent="a", note="patch", name="units", text="Last."),
        SetNote(agent="a", note="skill", name="nines"),
    )


@pytest.mark.parametrize(
    ("kinds", "note"),
    [
        (("patch",), {"coaching": {"text": "Hm."}}),
        (("coaching",), {"forget": {"note": "patch", "name": "units"}}),
        (("teammate",), {"teammate": {"name": "a", "text": "Me."}}),
        (("pair",), {"pair": {"name": "a", "text": "Me."}}),
        (("coaching",), {"coaching": {"text": "x" * 801}}),
    ],
)
def test_only_what_is_offered_can_be_noted(kinds: Any, note: Any) -> None:
    with pytest.raises(ValueError, match="notes"):
        offer(kinds=kinds).edits({"notes": [note]})


def test_where_there_is_no_room_for_new_notes_old_ones_are_offered() -> None:
    full = replace(LEARNT, patches={f"p{number}": "Hm." for number in range(63)})
    team = replace(TEAM, agents={**TEAM.agents, "a": replace(TEAM.agents["a"], notes=full)})
    schema: Any = offer(team=team, kinds=("patch",)).schema
    new, forget = schema["properties"]["notes"]["items"]["anyOf"]
    assert len(new["properties"]["patch"]["properties"]["name"]["enum"]) == 63
    assert "forget" in json.dumps(forget)


def test_an_agent_that_is_alone_knows_nobody() -> None:
    alone = Team(name="t", agents={"a": Agent(id="a", prompt="Add it up.")})
    assert offer(team=alone, kinds=("teammate",)).schema is None
    assert offer(team=alone, kinds=("teammate",)).edits({"notes": []}) == ()
