"""Which task taught an agent what: kept with what stays, forgotten with what goes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given

from coterie.schema import Agent, Notes, Skill, Team, dump, parse_team
from coterie.schema.edits import (
    AddAgent,
    Edit,
    RemoveAgent,
    RenameAgent,
    SetNote,
    SetPrompt,
    apply,
    changes,
    diff,
    edits_from_json,
    edits_to_json,
    summary,
    taught,
)

from ..edited import made as child_of
from ..strategies import CATALOGUE, fewer
from .strategies import teams_and_edits

LEARNT = Notes(
    patches={"units": "Write units.", "signs": "Mind the signs."},
    teammates={"b": "Quick."},
    pairs={"b": "Ask b first.", "c": "Tell c all."},
    skills={"nines": Skill(description="Sums.", body="Add.")},
    coaching="Slow down.",
)
KNOWN = {place: f"sums_{number}" for number, place in enumerate(LEARNT.places)}
TEAM = Team(
    name="t",
    agents={
        "a": Agent(id="a", prompt="Add it up.", notes=replace(LEARNT, taught=KNOWN)),
        "b": Agent(id="b", prompt="Check it."),
        "c": Agent(id="c", prompt="Decide."),
    },
    reports_to={"a": ("c",), "b": ("c",)},
)


def made(*edits: Edit, team: Team = TEAM) -> Team:
    return child_of(team, *edits)


def known(team: Team, agent: str = "a") -> dict[str, str]:
    return {**team.agents[agent].notes.taught}


def without(*places: str) -> dict[str, str]:
    return {place: task for place, task in KNOWN.items() if place not in places}


def test_an_edit_of_one_note_leaves_the_tasks_of_all_others() -> None:
    assert known(made()) == KNOWN
    new = SetNote(agent="a", note="patch", name="units", text="Write SI units.")
    same = SetNote(agent="a", note="patch", name="signs", text="Mind the signs.")
    gone = SetNote(agent="a", note="pair", name="b")
    skill = SetNote(agent="a", note="skill", name="nines", text="Twice.", description="Sums.")
    child = made(new, same, gone, skill, SetNote(agent="a", note="coaching"))
    assert known(child) == without("patches/units", "pairs/b", "skills/nines", "coaching")
    again = taught(child, [new, same, gone, skill], "sums_9")
    assert known(again) == {
        **known(child),
        "patches/units": "sums_9",
        "skills/nines": "sums_9",
    }


def test_tasks_follow_notes_to_the_ids_of_those_they_are_about() -> None:
    swapped = made(RenameAgent(agent="b", id="c"), RenameAgent(agent="c", id="b"))
    assert swapped.agents["a"].notes.pairs == {"c": "Ask b first.", "b": "Tell c all."}
    moved = {"teammates/b": "teammates/c", "pairs/b": "pairs/c", "pairs/c": "pairs/b"}
    assert known(swapped) == {moved.get(place, place): task for place, task in KNOWN.items()}
    assert known(made(RemoveAgent(agent="b"))) == without("teammates/b", "pairs/b")
    assert known(made(RenameAgent(agent="a", id="d")), "d") == KNOWN


def test_what_a_new_agent_brings_was_learnt_on_the_task_unless_it_says_otherwise() -> None:
    notes = replace(LEARNT, taught={"coaching": "sums_0"})
    new = AddAgent(agent=Agent(id="n", prompt="Look.", notes=notes), reports_to=("c",))
    child = taught(made(new), [new, SetPrompt(agent="a", prompt="Add.")], "sums_9")
    assert known(child, "n") == {**dict.fromkeys(LEARNT.places, "sums_9"), "coaching": "sums_0"}
    assert known(child) == KNOWN
    assert edits_from_json(edits_to_json([new])) == (new,)


def test_what_taught_a_note_makes_no_difference_but_in_words() -> None:
    bare = replace(TEAM, agents={**TEAM.agents, "a": replace(TEAM.agents["a"], notes=LEARNT)})
    assert bare == TEAM
    assert hash(LEARNT) == hash(TEAM.agents["a"].notes)
    assert bare.content_hash == TEAM.content_hash
    assert diff(bare, TEAM) == ()
    assert diff(TEAM, made(RenameAgent(agent="a", id="d"), team=bare)) == (
        RenameAgent(agent="a", id="d"),
    )
    child = made(SetNote(agent="a", note="pair", name="b", text="Ask b twice."))
    report = taught(child, [SetNote(agent="a", note="pair", name="b", text="Ask b twice.")], "t_7")
    assert summary(TEAM, report) == ("a: work with b Ask b first. -> Ask b twice. (taught by t_7)",)
    long = SetNote(agent="a", note="patch", name="new", text="Line by line.\nTwice.")
    assert summary(TEAM, taught(made(long), [long], "t_8")) == (
        "patch new of a: +2 lines (taught by t_8)",
    )
    assert [change.taught for change in changes(TEAM, report)] == ["t_7"]


@fewer(2)
@given(teams_and_edits())
def test_tasks_survive_any_edits_and_writing(drawn: tuple[Team, Sequence[Any]]) -> None:
    team, edits = drawn
    child = apply(team, edits, CATALOGUE)
    if isinstance(child, Team):
        marked = taught(child, edits, "here")
        assert marked == child
        read = parse_team(dump(marked).encode(), "team.yaml", CATALOGUE)
        for item, agent in marked.agents.items():
            assert agent.notes.taught.keys() <= {*agent.notes.places}
            assert known(read, item) == known(marked, item)
