"""Enlisting: a team of roles of a catalogue for a task."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Proposal, RejectedProposal, enlist
from coterie.runtime.doubles import Reply
from coterie.schema import Execution

from ...asking import TASK, Asked, asking, ceiling_of, dropped, llm, team
from ...rounds import ROLES, TRIO

KNOWN = {**ROLES, "solver": llm("solver", role="solves", prompt="Solve it.")}
FRAME = replace(TRIO, constitution="Be honest.", execution=Execution(on_error="degrade"))


def edge(sender: str, receiver: str) -> dict[str, str]:
    return {"sender": sender, "receiver": receiver}


def enlisted(*answers: Any, most: int = 4) -> Asked[Proposal | RejectedProposal]:
    replies = [Reply.json({"reason": "facts first", **answer}) for answer in answers]
    ceiling = ceiling_of(*(team(name, item) for name, item in KNOWN.items()))
    return asking(
        replies, lambda meta: enlist(meta, "e", TASK, FRAME, KNOWN, most=most), ceiling=ceiling
    )


def test_a_team_is_made_of_roles_in_the_order_in_which_they_work() -> None:
    agents = ["searcher", "solver", "verifier"]
    result = enlisted({"agents": agents, "edges": [edge("searcher", "solver")]}).result
    assert isinstance(result, Proposal)
    assert [*result.child.agents] == agents
    assert result.child.agents["solver"] == KNOWN["solver"]
    assert {*result.child.edges} == {("searcher", "solver"), ("solver", "verifier")}
    assert result.child.output == "verifier"


def test_all_but_agents_and_topology_is_the_frame_s() -> None:
    result = enlisted({"agents": ["solver", "verifier"], "edges": []}).result
    assert isinstance(result, Proposal)
    assert (result.child.name, result.child.constitution) == ("trio", "Be honest.")
    assert result.child.execution == FRAME.execution


@pytest.mark.parametrize(
    "bad",
    [
        {"agents": ["solver"], "edges": []},
        {"agents": ["solver", "solver"], "edges": []},
        {"agents": ["solver", "hacker"], "edges": []},
        {"agents": ["solver", "verifier"], "edges": [edge("verifier", "solver")]},
        {"agents": ["solver", "verifier"], "edges": [edge("searcher", "solver")]},
        {"agents": ["searcher", "solver", "verifier"], "edges": []},
    ],
)
def test_what_is_no_team_of_two_to_most_is_repaired_once_then_dropped(bad: Any) -> None:
    good = {"agents": ["solver", "verifier"], "edges": []}
    assert dropped(enlisted, bad, good, most=2).operator == "enlist"


def test_roles_are_shown_and_the_right_answer_is_not() -> None:
    [call] = enlisted({"agents": ["solver", "verifier"], "edges": []}).calls
    assert "- searcher: looks things up; Look up what is needed." in call.text
    assert TASK.answer not in call.text
