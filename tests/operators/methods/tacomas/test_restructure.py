"""The restructurer: few edits of agents and edges, of nothing else, that make a team."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators import Chance, Proposal, RejectedProposal, lasting_low, restructure
from coterie.runtime.doubles import Reply
from coterie.schema import Team
from coterie.schema.edits import AddAgent, AddEdge, RemoveAgent, RemoveEdge, components

from ....schema.strategies import teams
from ...asking import TASK, Asked, asking, catalogue, ceiling_of, dropped, llm, team
from ...rounds import ROLES, TRIO, judged, worked

HISTORY = [judged(planner=0.1, solver=0.9, writer=0.5)]
CEILING = replace(ceiling_of(TRIO, *(team(name, role) for name, role in ROLES.items())), agents=5)
BORN = {"add_agent": {"role": "verifier", "receives_from": ["solver"], "reports_to": ["writer"]}}
JOINED = {"add_edge": {"sender": "planner", "receiver": "writer"}}


def changing(*answers: Any, of: Team = TRIO, **options: Any) -> Asked[Proposal | RejectedProposal]:
    replies = [Reply.json({"reason": "nobody checks", **answer}) for answer in answers]
    ceiling = options.pop("ceiling", CEILING)
    given: dict[str, Any] = {"roles": ROLES, "dying": ["planner"], "agents": 1, "edges": 1}
    given = {**given, **options}
    account = worked(of)
    return asking(
        replies,
        lambda meta: restructure(meta, "r", TASK, account, HISTORY, team=of, **given),
        ceiling=ceiling,
    )


def child(*answers: Any, **options: Any) -> Team:
    result = changing(*answers, **options).result
    assert isinstance(result, Proposal), result
    return result.child


def test_a_role_is_born_between_those_it_hears_and_those_it_reports_to() -> None:
    result = child({"agents": [BORN], "edges": []})
    assert [*result.agents] == ["planner", "solver", "writer", "verifier"]
    assert result.agents["verifier"] == ROLES["verifier"]
    assert {("solver", "verifier"), ("verifier", "writer")} < {*result.edges}


def test_two_of_a_role_have_ids_of_their_own() -> None:
    result = child({"agents": [BORN, BORN], "edges": []}, agents=2)
    assert [*result.agents][3:] == ["verifier", "verifier_2"]


def test_an_agent_dies_and_who_reported_to_it_is_not_cut_off() -> None:
    result = child(
        {"agents": [{"remove_agent": {"agent": "solver"}}], "edges": []}, dying=["solver"]
    )
    assert result.edges == (("planner", "writer"),)


def test_edges_come_and_go() -> None:
    both = [JOINED, {"remove_edge": {"sender": "planner", "receiver": "solver"}}]
    result = child({"agents": [], "edges": both}, edges=2)
    assert {*result.edges} == {("planner", "writer"), ("solver", "writer")}


def test_a_newcomer_may_give_the_answer_from_now_on() -> None:
    last = {"add_agent": {"role": "verifier", "receives_from": ["solver"], "is_output": True}}
    result = child({"agents": [last], "edges": []})
    assert result.output == "verifier"
    assert ("writer", "verifier") in result.edges


def test_the_lists_may_be_empty() -> None:
    result = changing({"agents": [], "edges": []}).result
    assert isinstance(result, Proposal)
    assert (result.child, result.edits, result.reason) == (TRIO, (), "nobody checks")


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"agents": [BORN, BORN], "edges": []}, "2 changes under agents; at most 1"),
        ({"agents": [], "edges": [JOINED, JOINED]}, "2 changes under edges; at most 1"),
        ({"agents": [{"remove_agent": {"agent": "solver"}}], "edges": []}, "may not go"),
        ({"agents": [{"add_agent": {"role": "hacker"}}], "edges": []}, "no role 'hacker'"),
        ({"agents": [{"add_agent": {"role": "verifier", "fields": {}}}], "edges": []}, "fields"),
        (
            {"agents": [], "edges": [{"add_edge": {"sender": "writer", "receiver": "planner"}}]},
            "cycle",
        ),
        ({"agents": [], "edges": [{"set_prompt": {"agent": "solver", "prompt": "x"}}]}, "edges"),
    ],
)
def test_what_is_too_much_or_no_team_is_repaired_once_then_dropped(bad: Any, why: str) -> None:
    lost = dropped(changing, bad, {"agents": [BORN], "edges": []})
    assert why in " ".join(lost.problems)


def test_a_full_team_takes_nobody_in() -> None:
    full = replace(CEILING, agents=3)
    done = changing({"agents": [], "edges": []}, ceiling=full)
    assert "add_agent" not in str(done.calls[0].body["response_format"])
    assert "take in an agent" not in done.calls[0].text


def test_only_those_that_may_go_are_offered_and_never_who_gives_the_answer() -> None:
    done = changing({"edges": []}, dying=["writer"], roles={})
    schema = done.calls[0].body["response_format"]["json_schema"]["schema"]
    assert [*schema["properties"]] == ["reason", "edges"]


def test_who_gives_the_answer_may_not_go_whatever_it_contributed() -> None:
    gone = {"agents": [{"remove_agent": {"agent": "writer"}}], "edges": []}
    done = changing(gone, gone, dying=["planner", "writer"])
    assert isinstance(done.result, RejectedProposal)
    assert "'writer' may not go. These may: planner." in done.result.problems[0]


def test_where_there_is_nothing_to_change_nobody_is_asked() -> None:
    alone = team("alone", llm("a"))
    done = changing(of=alone, dying=[], roles={}, ceiling=CEILING)
    assert isinstance(done.result, Proposal)
    assert (done.result.child, done.calls) == (alone, [])
    assert changing(agents=0, edges=0).calls == []


def test_it_sees_contributions_and_roles_and_not_the_right_answer() -> None:
    [call] = changing({"agents": [], "edges": []}).calls
    assert "planner: 0.1; planner so" in call.text
    assert "- verifier: checks; Check every step of it." in call.text
    assert TASK.answer not in call.text


def drawn(
    of: Team, seed: int, dying: list[str], agents: int, edges: int
) -> Proposal | RejectedProposal:
    """An answer of any kind that the question lets through."""
    known = catalogue()
    ceiling = replace(ceiling_of(of, *(team("one", role) for role in ROLES.values())), agents=None)
    chance = Chance(catalogue=known, ceiling=ceiling, seed=seed)
    given: Any = {"roles": ROLES, "dying": dying, "agents": agents, "edges": edges}
    work = restructure(chance, "r", TASK, worked(of), [], team=of, **given)
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("chance waits for nobody.")


@given(teams(), st.integers(0, 1_000), st.integers(0, 3), st.integers(0, 4))
def test_any_schema_answer_fits_its_budget(of: Team, seed: int, agents: int, edges: int) -> None:
    result = drawn(of, seed, [*of.agents], agents, edges)
    assert isinstance(result, Proposal), result
    assert components(result.edits) <= {"roster", "topology"}
    kinds = [type(edit) for edit in result.edits]
    assert sum(kind in {AddAgent, RemoveAgent} for kind in kinds) <= agents
    assert sum(kind in {AddEdge, RemoveEdge} for kind in kinds) <= edges
    assert {*kinds} <= {AddAgent, RemoveAgent, AddEdge, RemoveEdge}
    gone = dict.fromkeys({*of.agents} - {*result.child.agents})
    for agent in result.child.agents.values():
        here = of.agents.get(agent.id)
        if here is None:
            assert replace(agent, id="x") in [replace(role, id="x") for role in ROLES.values()]
        else:
            assert agent == replace(here, notes=here.notes.following(gone))


def test_who_contributes_little_for_several_rounds_may_go() -> None:
    rounds = [
        judged(ant=0.1, bee=0.1, cat=0.9),
        judged(ant=0.2, bee=0.3, cat=0.1),
        judged(ant=0.1, bee=0.2, cat=0.1, dog=0.0),
    ]
    assert lasting_low(rounds, below=0.3, rounds=3) == ("ant",)
    assert lasting_low(rounds, below=0.3, rounds=2) == ("ant", "cat")
    assert lasting_low(rounds, below=0.3, rounds=1) == ("ant", "bee", "cat", "dog")
    assert lasting_low(rounds, below=0.3, rounds=4) == ()
