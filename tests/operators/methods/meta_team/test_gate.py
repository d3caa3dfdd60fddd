"""The gate: everybody's part stays, nobody may do more, and one bad edit costs no good one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.methods.meta_team import NoteLimits, Passed, gate
from coterie.schema import Execution, Notes, Roster, Skill, Team
from coterie.schema.edits import (
    AddAgent,
    AddEdge,
    Edit,
    RemoveAgent,
    RemoveEdge,
    SetModel,
    SetNote,
    SetPrompt,
    SetTools,
)
from coterie.schema.loading.ceiling import CapabilityPolicy

from ...asking import catalogue, llm
from ...rounds import TRIO

CEILING = replace(CapabilityPolicy.of(TRIO), agents=5, edges=None)
UNITS = SetNote(agent="solver", note="patch", name="units", text="Write the unit.")
LONG = "x" * 700
CHECKER = llm("checker", role="checks")


def passed(*edits: Edit, team: Team = TRIO, **room: int) -> Passed:
    return gate(team, edits, catalogue=catalogue(), ceiling=CEILING, room=NoteLimits(**room))


def skill(name: str, body: str = "Add.") -> SetNote:
    return SetNote(agent="solver", note="skill", name=name, text=body, description="Adds.")


def test_what_may_be_kept_is_and_makes_the_child() -> None:
    result = passed(UNITS)
    assert (result.edits, result.refused) == ((UNITS,), ())
    assert dict(result.child.agents["solver"].notes.patches) == {"units": "Write the unit."}
    assert passed() == Passed(child=TRIO)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (SetPrompt(agent="solver", prompt="Obey."), "set_prompt: a team does not change that"),
        (SetModel(agent="solver", model_id="fast"), "set_model: a team does not change that"),
        (SetTools(agent="solver", tools=("shell",)), "set_tools: a team does not change that"),
        (SetNote(agent="nobody", note="patch", name="x", text="y"), "nobody"),
        (RemoveAgent(agent="writer"), "writer answers for the team"),
        (RemoveEdge(sender="planner", receiver="solver"), "planner"),
        (AddEdge(sender="writer", receiver="planner"), "cycle"),
        (
            AddAgent(agent=replace(CHECKER, tools=("read_file",)), reports_to=("writer",)),
            "is above the ceiling",
        ),
        (AddAgent(agent=CHECKER, receives_from=("writer",), is_output=True), "has to stay"),
        (replace(UNITS, text=LONG), "units: 700 characters; at most 600"),
        (skill("sums", "x" * 4_001), "a body of 4001 characters; at most 4000"),
        (
            SetNote(agent=None, note="constitution", text="x" * 4_001),
            "the constitution has 4001 characters; there is room for 4000",
        ),
        (SetNote(agent="solver", note="teammate", name="writer", text=LONG), "at most 600"),
        (SetNote(agent="solver", note="pair", name="writer", text=LONG), "at most 600"),
        (replace(UNITS, text="Use sk-" + "a1B2" * 12), "looks like"),
    ],
)
def test_what_may_not_is_refused_with_its_reason_alone(edit: Edit, why: str) -> None:
    good = SetNote(agent="planner", note="patch", name="brief", text="Be brief.")
    result = passed(edit, good)
    assert result.edits == (good,)
    [refused] = result.refused
    assert why in " ".join(refused.reasons)


def test_who_goes_makes_room_for_who_comes_whatever_the_order() -> None:
    full = replace(CEILING, agents=3)
    come = AddAgent(agent=CHECKER, receives_from=("solver",), reports_to=("writer",))
    bad, go = SetModel(agent="solver", model_id="x"), RemoveAgent(agent="planner")
    edits: Sequence[Edit] = (come, bad, go)
    result = gate(TRIO, edits, catalogue=catalogue(), ceiling=full)
    assert {*result.edits} == {come, go}
    assert [*result.child.agents] == ["solver", "writer", "checker"]


def test_a_role_is_replaced_under_another_id() -> None:
    again = AddAgent(agent=llm("planner", role="plans"), reports_to=("solver",))
    result = passed(RemoveAgent(agent="planner"), again)
    assert result.edits == (RemoveAgent(agent="planner"),)


def test_there_is_room_for_so_many_notes() -> None:
    result = passed(*(replace(UNITS, name=f"rule_{number}") for number in range(4)), patches=3)
    assert len(result.edits) == 3
    assert "solver would have 4 patches; there is room for 3." in result.refused[0].reasons[0]
    assert len(passed(skill("a"), skill("b"), skills=1).refused) == 1


def test_what_a_person_wrote_may_be_longer_and_stays() -> None:
    notes = Notes(
        patches={"long": LONG, "other": "Do."},
        pairs={"writer": LONG},
        skills={"sums": Skill(description="Adds.", body="x" * 5_000)},
    )
    agents = {**TRIO.agents, "solver": replace(TRIO.agents["solver"], notes=notes)}
    team = replace(TRIO, agents=agents, constitution="x" * 5_000)
    assert passed(replace(UNITS, name="other"), team=team, patches=1).refused == ()
    assert passed(UNITS, team=team, patches=2).edits == ()
    shorter = SetNote(agent=None, note="constitution", text="x" * 4_500)
    assert passed(shorter, team=team).edits == (shorter,)


def test_what_an_agent_reads_ahead_of_its_task_is_bounded() -> None:
    result = passed(UNITS, skill("sums", "x" * 900), read=800)
    assert result.edits == (UNITS,)
    assert "ahead of its task; at most 800" in result.refused[0].reasons[0]


def test_a_prompt_file_counts_with_its_text(tmp_path: Path) -> None:
    (tmp_path / "checking.md").write_text("x" * 900)
    known = replace(catalogue(), prompt_folders=(tmp_path,))
    checker = AddAgent(agent=llm("checker", prompt="checking"), reports_to=("writer",))
    room = NoteLimits(read=800)
    result = gate(TRIO, (UNITS, checker), catalogue=known, ceiling=CEILING, room=room)
    assert result.edits == (UNITS,)
    [refused] = result.refused
    assert refused.reasons == ("checker would read 900 characters ahead of its task; at most 800.",)


def test_the_lead_of_an_open_roster_stays_and_nobody_needs_a_place() -> None:
    roster = Execution(roster=Roster(lead="planner"))
    team = replace(TRIO, reports_to={}, execution=roster)
    come: Any = AddAgent(agent=CHECKER)
    edits = (come, RemoveAgent(agent="solver"), RemoveAgent(agent="planner"))
    result = gate(team, edits, catalogue=catalogue(), ceiling=CapabilityPolicy.of(team))
    assert {*result.edits} == {come, RemoveAgent(agent="solver")}
    assert [*result.child.agents] == ["planner", "writer", "checker"]


def test_nobody_is_left_whose_work_reaches_nobody() -> None:
    team = replace(TRIO, declared_output="writer")
    result = passed(RemoveEdge(sender="planner", receiver="solver"), team=team)
    assert "its output does not reach the output agent" in result.refused[0].reasons[0]
