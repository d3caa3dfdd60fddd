"""Crossover: the whole topology of one parent; each position has an agent of either or a hybrid."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Proposal, RejectedProposal, crossover
from coterie.operators.methods.evomas.crossover import can_cross
from coterie.runtime.doubles import Reply
from coterie.schema import Team
from coterie.schema.edits import components

from ...asking import TASK, Asked, asking, ceiling_of, llm, parent, seed, team

SOLVERS = team(
    "solvers",
    llm("worker_1", role="worker", model_id="fast"),
    llm("worker_2", role="worker"),
    llm("aggregator", role="judge", max_tokens=100),
)
DEBATERS = team(
    "debaters",
    llm("debater_1", role="debater", temperature=1),
    llm("debater_2", role="debater"),
    llm("moderator", role="judge", model_id="fast"),
    edges={"debater_1": ("debater_2", "moderator"), "debater_2": ("moderator",)},
)


def crossed(
    *answers: Any, first: Team = SOLVERS, second: Team = DEBATERS, **options: Any
) -> Asked[Proposal | RejectedProposal]:
    side = options.pop("topology", None)
    item, other = parent(first, reward=0.5), parent(second, digest="run: done")
    return asking(
        [Reply.json(answer) for answer in answers],
        lambda meta: crossover(meta, "c", TASK, item, other, topology=side),
        ceiling=ceiling_of(first, second),
        **options,
    )


def positions(**given: str) -> dict[str, Any]:
    return {"reason": "both", "positions": given}


BOTH = positions(
    worker_1="agent of second",
    worker_2="prompt of second, the rest of first",
    aggregator="prompt of first, the rest of second",
)


def test_the_model_sees_the_runs_and_the_notes_of_the_models_of_both() -> None:
    notes = {"fast": "Cheap.", "default": "Thorough."}
    for call in crossed({"reason": "star", "topology": "first"}, BOTH, notes=notes).calls:
        for shown in ("Reward: 0.5", "run: done", "- default: Thorough.\n- fast: Cheap."):
            assert shown in call.text
        assert "what came of their runs" in call.text
    slow = [llm(word, role=word) for word in ("worker", "judge")]
    plain = (
        team("plain", *slow),
        team("brief", *(replace(item, prompt="Be brief.") for item in slow)),
    )
    given = positions(worker="agent of second", judge="agent of first")
    asked: dict[str, Any] = {"first": plain[0], "second": plain[1], "notes": notes}
    [call] = crossed(given, topology="first", **asked).calls
    assert "Cheap" not in call.text


def test_the_child_has_one_topology_and_agents_of_both() -> None:
    done = crossed({"reason": "star", "topology": "first"}, BOTH)
    result = done.result
    assert isinstance(result, Proposal)
    child = result.child
    assert (child.reports_to, child.output) == (SOLVERS.reports_to, SOLVERS.output)
    assert child.agents["worker_1"] == replace(DEBATERS.agents["debater_1"], id="worker_1")
    two = DEBATERS.agents["debater_1"]
    assert child.agents["worker_2"] == replace(
        SOLVERS.agents["worker_2"], prompt=two.prompt, role="debater"
    )
    judge = child.agents["aggregator"]
    assert (judge.prompt, judge.model_id, judge.max_tokens) == (
        "You are [aggregator]. Answer.", "fast", 4096
    )  # fmt: skip
    assert result.parents == ("solvers", "debaters")
    assert components(result.edits) <= {"prompts", "model_id", "tools", "parameters"}
    paths = [fields["path"] for fields in done.events_of("model_call")]
    assert paths == ["c/topology/call 1", "c/agents/call 1"]


def test_the_model_sees_both_and_who_stands_where() -> None:
    [call] = crossed(BOTH, topology="first").calls
    for shown in ("name: solvers", "name: debaters", "worker_1: debater_1", "run: done"):
        assert shown in call.text
    assert TASK.answer not in call.text


def test_the_second_parents_topology_makes_it_the_first_of_the_child() -> None:
    answer = positions(
        debater_1="agent of second",
        moderator="agent of first",
    )
    result = crossed(answer, topology="second").result
    assert isinstance(result, Proposal)
    assert result.parents == ("debaters", "solvers")
    assert result.child.edges == DEBATERS.edges
    assert result.child.agents["moderator"].max_tokens == 100
    # Nobody stands between others in a star, so whoever does so here stays.
    assert result.child.agents["debater_2"] == DEBATERS.agents["debater_2"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (positions(worker_1="agent of second"), "'worker_2' is a required property"),
        (positions(**{**BOTH["positions"], "worker_1": "agent of third"}), "is not one of"),
        ({**BOTH, "topology": "mine"}, "Additional properties"),
        (
            positions(**dict.fromkeys(BOTH["positions"], "agent of first")),
            "the child is no other than one of its parents",
        ),
    ],
)
def test_other_answers_are_dropped(answer: Any, message: str) -> None:
    done = crossed(answer, answer, topology="first")
    assert isinstance(done.result, RejectedProposal)
    assert message in " ".join(done.result.problems)


def test_a_topology_that_is_none_is_dropped() -> None:
    neither = {"reason": "", "topology": "third"}
    assert isinstance(crossed(neither, neither).result, RejectedProposal)


def test_parents_whose_agents_do_not_differ_cannot_be_crossed() -> None:
    done = crossed(second=replace(SOLVERS, name="twins"), topology="first")
    assert isinstance(done.result, RejectedProposal)
    assert len(done.calls) == 0


def test_parents_that_differ_in_one_place_by_one_thing_have_no_child_but_themselves() -> None:
    warm = replace(SOLVERS.agents["worker_2"], temperature=1)
    warmer = replace(SOLVERS, name="warmer", agents={**SOLVERS.agents, "worker_2": warm})
    assert not can_cross(SOLVERS, warmer)
    done = crossed(second=warmer)
    assert isinstance(done.result, RejectedProposal)
    assert len(done.calls) == 0


def test_no_agent_is_offered_twice() -> None:
    prompted = replace(SOLVERS.agents["worker_2"], prompt="Count.", model_id="fast")
    brief = replace(SOLVERS.agents["aggregator"], max_tokens=10)
    agents = {**SOLVERS.agents, "worker_2": prompted, "aggregator": brief}
    other = replace(SOLVERS, name="other", agents=agents)
    assert can_cross(SOLVERS, other)
    answer = positions(worker_2="agent of second", aggregator="agent of first")
    done = crossed(answer, second=other, topology="first")
    schema = done.calls[0].body["response_format"]["json_schema"]["schema"]
    fields = schema["properties"]["positions"]["properties"]
    assert {item: len(field["enum"]) for item, field in fields.items()} == {
        "worker_2": 4,
        "aggregator": 2,
    }
    assert isinstance(done.result, Proposal)


def test_the_topology_is_not_asked_for_where_only_one_will_do() -> None:
    # The lone worker does not differ from the one that stands in its place.
    lone = team("lone", llm("worker_1", role="worker", model_id="fast"))
    answer = positions(worker_2="agent of second", aggregator="agent of first")
    result = crossed(answer, second=lone)
    assert len(result.calls) == 1
    assert isinstance(result.result, Proposal)
    assert result.result.parents == ("solvers", "lone")


def test_a_function_is_taken_whole_and_its_place_is_kept() -> None:
    vote = replace(SOLVERS.agents["aggregator"], agent_type="Function", function="majority")
    voters = replace(SOLVERS, name="voters", agents={**SOLVERS.agents, "aggregator": vote})
    answer = positions(
        worker_1="agent of first", worker_2="agent of first", aggregator="agent of second"
    )
    done = crossed(answer, first=voters, topology="first")
    schema = done.calls[0].body["response_format"]["json_schema"]["schema"]
    fields = schema["properties"]["positions"]["properties"]
    assert fields["aggregator"]["enum"] == ["agent of first", "agent of second"]
    assert len(fields["worker_1"]["enum"]) == 4
    assert isinstance(done.result, Proposal)
    assert done.result.child.agents["aggregator"].function is None


def test_an_agent_works_as_it_did_in_a_team_of_other_defaults() -> None:
    shell = team("shell", llm("worker_1", agent_type=None), llm("out"))
    shell = replace(shell, backend="mini-swe-agent")
    answer = positions(
        worker_1="agent of second", worker_2="agent of first", aggregator="agent of first"
    )
    result = crossed(answer, second=shell, topology="first").result
    assert isinstance(result, Proposal)
    assert result.child.backend_of(result.child.agents["worker_1"]) == "mini-swe-agent"
    assert result.child.backend is None


def test_seed_teams_of_other_shapes_can_be_crossed() -> None:
    debate, vote = seed("debate"), seed("majority_vote")
    answer = positions(
        **{f"worker_{number}": "agent of first" for number in range(1, 7)},
        aggregator="agent of second",
    )
    result = crossed(answer, first=vote, second=debate, topology="first").result
    assert isinstance(result, Proposal)
    assert len(result.child.edges) == 6
    assert result.child.agents["aggregator"].prompt == debate.agents["moderator"].prompt
