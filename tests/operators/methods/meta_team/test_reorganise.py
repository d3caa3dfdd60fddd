"""The team changes its rules and its roster: what is offered, and what of an answer is kept."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Bounds
from coterie.operators.methods.meta_team import (
    EvidenceExchange,
    NoteLimits,
    Reflected,
    Reorganised,
    reorganise,
)
from coterie.operators.methods.meta_team.reorganise import EdgeOffer
from coterie.operators.methods.meta_team.roster import RosterOffer
from coterie.operators.methods.meta_team.rules import Rules
from coterie.schema import Execution, Roster, Rounds, Team
from coterie.schema.edits import AddAgent, AddEdge, RemoveAgent, RemoveEdge
from coterie.schema.loading.ceiling import CapabilityPolicy

from ...asking import asking
from ...rounds import TRIO
from .looking import ground, model

RULED = replace(TRIO, constitution="Be fair.\n\n* Be kind.\n")
OPEN = replace(TRIO, reports_to={}, execution=Execution(roster=Roster(lead="planner")))
CHECKER = {
    "id": "checker",
    "role": "checks units",
    "prompt": "Check the unit of every number.",
    "like": "solver",
    "tools": ["read_file"],
    "hears": ["solver"],
    "reports_to": ["writer"],
}


def rules(**answer: Any) -> tuple[str, list[str]]:
    edits, refused = Rules(team=RULED, room=NoteLimits(note=60)).read({"rules": [], **answer})
    [text] = [getattr(edit, "text", "") for edit in edits] or [""]
    return text, [item.reasons[0] for item in refused]


def offer(team: Team = TRIO, **ceiling: Any) -> RosterOffer:
    given: dict[str, Any] = {"tools": frozenset({"read_file"}), "agents": 4, **ceiling}
    return RosterOffer(
        team=team, ceiling=replace(CapabilityPolicy.of(team), **given), room=NoteLimits()
    )


def test_a_rule_is_a_line_and_all_others_stay_as_they_were_written() -> None:
    pair = rules(rules=["Say the unit."])
    assert pair == ("Be fair.\n* Be kind.\n- Say the unit.\n", [])
    assert rules(outdated=[1, 1]) == ("* Be kind.\n", [])
    assert rules(outdated=[1, 2]) == ("", [])
    assert rules() == ("", [])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"rules": [7]}, "a rule is a text"),
        ({"rules": ["…"]}, "a rule is a text"),
        ({"rules": ["x" * 61]}, "a rule of 61 characters; at most 60"),
        ({"rules": ["Be fair."]}, "says that already"),
        ({"outdated": [3]}, "no line 3"),
        ({"outdated": [True]}, "no line true"),
    ],
)
def test_what_is_no_rule_is_refused(answer: Any, why: str) -> None:
    text, [reason] = rules(**answer)
    assert text == ""
    assert why in reason


def test_only_so_many_rules_come_and_go() -> None:
    _, reasons = rules(rules=["a", "b", "c", "d"], outdated=[1, 1, 1, 1])
    assert reasons == ["at most 3 rules go at once.", "at most 3 rules come at once."]


def test_a_newcomer_may_do_what_one_who_is_there_may() -> None:
    solver = replace(TRIO.agents["solver"], max_tokens=99, temperature=0.5, output_schema={})
    team = replace(TRIO, agents={**TRIO.agents, "solver": solver})
    [come], refused = offer(team).read({"come": [CHECKER]})
    assert refused == ()
    assert isinstance(come, AddAgent)
    assert (come.agent.max_tokens, come.agent.temperature) == (99, 0.5)
    assert (come.agent.output_schema, come.agent.tools) == (None, ("read_file",))
    assert (come.receives_from, come.reports_to) == (("solver",), ("writer",))
    [again], _ = offer(team).read({"come": [{**CHECKER, "id": "Solver!"}]})
    assert isinstance(again, AddAgent)
    assert again.agent.id == "solver_2"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model_id": "fast"}, "has exactly id, role, prompt, like, tools, hears, reports_to"),
        ({"role": 7}, "written in texts"),
        ({"hears": "solver"}, "lists of names"),
        ({"like": "nobody"}, "is none of planner, solver, writer"),
        ({"id": "…"}, "needs an id"),
        ({"role": " "}, "needs an id, a role"),
        ({"prompt": "solve_step_by_step"}, "instructions written out"),
        ({"prompt": "x y" * 2_000}, "6000 characters; at most 4000"),
        ({"tools": ["shell"]}, "'shell' is not among those"),
    ],
)
def test_who_may_not_come_is_refused(change: Any, why: str) -> None:
    edits, [refused] = offer().read({"come": [{**CHECKER, **change}]})
    assert edits == ()
    assert why in refused.reasons[0]


def test_only_who_can_be_done_without_goes() -> None:
    edits, refused = offer().read({"go": ["planner"]})
    assert (edits, refused) == ((RemoveAgent(agent="planner"),), ())
    twice = replace(offer(), most=2).read({"go": ["planner", "planner"]})
    assert twice == ((RemoveAgent(agent="planner"),), ())
    edits, refused = offer().read({"go": ["writer", "solver"], "come": [CHECKER, CHECKER]})
    assert [type(edit) for edit in edits] == [AddAgent]
    assert [item.reasons[0] for item in refused] == [
        "'writer' cannot be done without.",
        "at most 1 may go at once.",
        "at most 1 may come.",
    ]


def test_nobody_comes_where_there_is_no_room_or_the_roster_stays() -> None:
    assert "come" not in offer(agents=3).schema
    assert "come" in offer(agents=None).schema
    assert offer(replace(TRIO, execution=Execution(context="all"), reports_to={})).schema == {}
    waiting = Execution(rounds=Rounds(most=2, until="finalized"))
    assert offer(replace(TRIO, execution=waiting)).schema == {}
    assert replace(offer(), most=0).schema == {}
    assert offer(tools=frozenset()).text == ""
    alone = Team(name="solo", agents={"planner": TRIO.agents["planner"]})
    assert [*offer(alone).schema] == ["come"]


def change(change: str, sender: str, receiver: str) -> dict[str, str]:
    return {"change": change, "sender": sender, "receiver": receiver}


def decided(team: Team = TRIO, **reply: Any) -> Reorganised:
    answer = {"reason": "x", "rules": [], "retry": False, **reply}
    result = asking(model({"rules": answer}), lambda meta: reorganise(meta, "r", ground(team), ()))
    assert isinstance(result.result, Reorganised)
    return result.result


def test_who_reports_to_whom_changes_among_those_who_stay() -> None:
    both = [change("add", "planner", "writer"), change("remove", "planner", "solver")]
    result = decided(edges=both)
    edges = (AddEdge(sender="planner", receiver="writer"),)
    assert result.edits == (*edges, RemoveEdge(sender="planner", receiver="solver"))
    assert result.refused == ()


@pytest.mark.parametrize(
    ("edge", "why"),
    [
        (change("add", "writer", "planner"), "cycle"),
        (change("remove", "solver", "writer"), ""),  # nobody would read the solver
        (change("turn", "solver", "writer"), "change (add or remove)"),
        (change("add", "solver", "nobody"), "two of planner, solver, writer"),
        ("solver", "an edge has change"),
        ({**change("add", "solver", "writer"), "sender": {"a": 1}}, "two of planner"),
        ({**change("add", "solver", "writer"), "change": []}, "change (add or remove)"),
    ],
)
def test_an_edge_that_no_team_could_have_is_refused(edge: Any, why: str) -> None:
    result = decided(edges=[edge])
    assert result.edits == ()
    assert why in result.refused[0].reasons[0]


def test_no_edge_is_offered_where_none_is_free() -> None:
    assert [*EdgeOffer(team=TRIO).schema] == ["edges"]
    assert EdgeOffer(team=TRIO, most=0).schema == {}
    assert EdgeOffer(team=OPEN).schema == {}
    waiting = Execution(rounds=Rounds(most=2, until="finalized"))
    assert EdgeOffer(team=replace(TRIO, execution=waiting)).schema == {}
    many = EdgeOffer(team=TRIO).read({"edges": [change("add", "planner", "writer")] * 3})
    assert (len(many[0]), many[1][0].reasons) == (1, ("at most 2 edges may change at once.",))


def test_in_an_open_roster_a_newcomer_has_no_place_and_only_the_lead_stays() -> None:
    fields = {name: item for name, item in CHECKER.items() if name not in {"hears", "reports_to"}}
    open_offer = offer(OPEN)
    assert open_offer.spare == ["solver", "writer"]
    [come, go] = open_offer.read({"come": [fields], "go": ["solver"]})[0][::-1]
    assert isinstance(come, AddAgent)
    assert (come.receives_from, come.reports_to) == ((), ())
    assert go == RemoveAgent(agent="solver")


def test_an_answer_that_is_still_not_right_is_kept_in_part() -> None:
    bad = {"reason": "x", "rules": ["Say the unit.", "…"], "retry": True}
    done = asking(model({"rules": bad}), lambda meta: reorganise(meta, "r", ground(), ()))
    assert isinstance(done.result, Reorganised)
    assert len(done.calls) == 2
    assert (len(done.result.edits), len(done.result.refused), done.result.retry) == (1, 1, True)


def test_evidence_is_read_as_far_as_there_is_room() -> None:
    asked = [
        EvidenceExchange(
            asker="solver", colleague="planner", question="Why?", answer=f"ANSWER {number}"
        )
        for number in range(3)
    ]
    report = Reflected(agent="solver", evidence=tuple(asked))
    few, on = Bounds(team_characters=200), ground(own_model=False)
    work = asking(model(), lambda meta: reorganise(meta, "r", on, [report]), bounds=few)
    [call] = work.calls
    assert "ANSWER 0" in call.text
    assert "ANSWER 2" not in call.text
