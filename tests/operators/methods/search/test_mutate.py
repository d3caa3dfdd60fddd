"""Mutation: one component of one parent, whatever the model answers."""

import json
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Parent, Proposal, RejectedProposal, mutate
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.doubles import Reply
from coterie.runtime.scoring.functions import majority
from coterie.schema.edits import AddEdge, SetModel, SetPrompt, components, diff

from ...asking import PAIR, TASK, Asked, asking, ceiling_of, llm, parent, team

PROMPT = {"set_prompt": {"agent": "worker", "prompt": "Count twice."}}


def mutated(*answers: Any, of: Any = None, **options: Any) -> Asked[Proposal | RejectedProposal]:
    asked = {
        name: options.pop(name)
        for name in ("component", "components", "memories")
        if name in options
    }
    of = of or parent(digest="run: done", reward=0.5)
    replies = [answer if isinstance(answer, str) else Reply.json(answer) for answer in answers]
    return asking(replies, lambda meta: mutate(meta, "step 1", TASK, of, **asked), **options)


def edits(*listed: Any, reason: str = "because") -> dict[str, Any]:
    return {"reason": reason, "edits": list(listed)}


def test_edits_of_the_component_make_a_child() -> None:
    done = mutated(edits(PROMPT, reason="it\nmiscounts"), component="prompts")
    result = done.result
    assert isinstance(result, Proposal)
    assert result.edits == (SetPrompt(agent="worker", prompt="Count twice."),)
    assert (result.operator, result.component, result.parents) == ("mutate", "prompts", ("pair",))
    assert result.reason == "it miscounts"
    assert diff(PAIR, result.child) == result.edits
    assert PAIR.agents["worker"].prompt == "You are [worker]. Answer."


def test_the_model_sees_task_team_run_and_memory_but_no_answer() -> None:
    memory = Learnt(id="1", kind="evolution", task="pears", text="Voting helped.")
    [call] = mutated(edits(PROMPT), component="prompts", memories=[memory]).calls
    for shown in ("How many apples?", "name: pair", "Reward: 0.5", "run: done", "Voting helped."):
        assert shown in call.text
    assert TASK.answer not in call.text


def test_who_chooses_models_sees_what_was_noted_of_them() -> None:
    notes = {"fast": "Cheap; weak at proofs."}
    model = edits({"set_model": {"agent": "judge", "model_id": "fast"}})
    [call] = mutated(model, component="model_id", notes=notes).calls
    assert "- fast: Cheap; weak at proofs." in call.text
    [call] = mutated(edits(PROMPT), component="prompts", notes=notes).calls
    assert "weak at proofs" not in call.text


@pytest.mark.parametrize(
    ("of", "speaks"),
    [
        (parent(), False),
        (parent(reward=0.0), True),
        (parent(digest="run: done\nanswer: 8"), True),
    ],
)
def test_of_a_run_it_is_spoken_where_one_is_shown(of: Parent, speaks: bool) -> None:
    [call] = mutated(edits(PROMPT), component="prompts", of=of).calls
    assert ("what came of its run" in call.text) is speaks
    assert ("<team_run " in call.text) is speaks


def test_a_component_that_may_not_be_touched_is_refused() -> None:
    with pytest.raises(
        ValueError, match="a mutation touches one of prompts, topology, not 'tools'"
    ):
        mutated(component="tools", components=("topology", "prompts"))
    done = mutated(edits(PROMPT), components=("prompts",))
    assert isinstance(done.result, Proposal)
    assert len(done.calls) == 1


def test_the_model_chooses_the_component_first() -> None:
    edge = {"set_model": {"agent": "judge", "model_id": "fast"}}
    done = mutated({"reason": "weak", "change": "model_id"}, edits(edge))
    result = done.result
    assert isinstance(result, Proposal)
    assert result.edits == (SetModel(agent="judge", model_id="fast"),)
    paths = [fields["path"] for fields in done.events_of("model_call")]
    assert paths == ["step 1/component/call 1", "step 1/edits/call 1"]
    choices = done.calls[0].body["response_format"]["json_schema"]["schema"]
    assert choices["properties"]["change"]["enum"] == [
        "prompts", "model_id", "parameters"
    ]  # fmt: skip


def test_with_the_roster_agents_come_and_go_below_the_ceiling() -> None:
    checker = {"agent": "checker", "fields": {"prompt": "Recount."}}
    joins = {"add_agent": {**checker, "place": {"reports_to": ["judge"]}}}
    goes = {"remove_agent": {"agent": "worker"}}
    asked: Any = {"component": "roster", "components": ("prompts", "roster")}
    done = mutated(edits(joins, goes), **asked)
    assert isinstance(done.result, Proposal)
    assert components(done.result.edits) == {"roster"} == {done.result.component}
    assert list(done.result.child.agents) == ["judge", "checker"]
    offered = json.dumps(done.calls[0].body["response_format"])
    assert "set_prompt" not in offered
    assert '"fast"' not in offered  # models may not be touched, so newcomers have the team's
    full = mutated(edits(goes), **asked, ceiling=replace(ceiling_of(PAIR), agents=2))
    assert isinstance(full.result, Proposal)
    assert "add_agent" not in json.dumps(full.calls[0].body["response_format"])


def test_a_choice_that_is_none_is_dropped() -> None:
    none = {"reason": "hire", "change": "roster"}
    done = mutated(none, none)
    assert isinstance(done.result, RejectedProposal)
    assert len(done.calls) == 2
    assert done.result.parents == ("pair",)


def test_the_only_open_component_need_not_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(majority, "needs_reports", False, raising=False)
    counter = llm("counter", agent_type="Function", function="majority", prompt="")
    alone = parent(team("alone", counter))
    retries = edits({"set_execution": {"max_retries": 5}})
    done = mutated(retries, of=alone, ceiling=replace(ceiling_of(alone.team), max_retries=9))
    assert isinstance(done.result, Proposal)
    assert len(done.calls) == 1


@pytest.mark.parametrize(
    ("component", "listed", "message"),
    [
        ("prompts", [PROMPT, {"add_edge": {"sender": "judge", "receiver": "worker"}}], "topology"),
        ("prompts", [{"remove_agent": {"agent": "worker"}}], "here only prompts may be edited"),
        ("prompts", [{"set_prompt": {"agent": "wroker", "prompt": "x y"}}], "no agent 'wroker'"),
        ("model_id", [{"set_model": {"agent": "worker", "model_id": "gpt-9"}}], "no model 'gpt-9'"),
        ("parameters", [{"set_parameter": {"agent": "worker", "max_tokens": 9999}}], "4096"),
        ("parameters", [{"set_backend": {"backend": "smolagents"}}], "above the ceiling"),
        ("prompts", [{"set_prompt": {"agent": "worker", "prompt": "x" * 5_000}}], "at most 4000"),
        ("prompts", [PROMPT] * 81, "81 edits; at most 80"),
        ("prompts", [], "there is no edit"),
        (
            "prompts",
            [{"set_prompt": {"agent": "worker", "prompt": "You are [worker]. Answer."}}],
            "change nothing",
        ),
        ("prompts", "worker", 'no JSON object with a list under "edits"'),
    ],
)
def test_what_may_not_be_is_repaired_or_dropped(component: Any, listed: Any, message: str) -> None:
    bad = {"reason": "", "edits": listed}
    done = mutated(bad, bad, component=component)
    assert isinstance(done.result, RejectedProposal)
    assert message in " ".join(done.result.problems)
    assert done.result.problems[0] in done.calls[1].text
    assert len(done.events_of("operator_dropped")) == 1


def test_an_edge_that_closes_a_cycle_is_handed_back_then_dropped() -> None:
    three = team("three", llm("a"), llm("b"), llm("c"))
    back = edits({"add_edge": {"sender": "c", "receiver": "a"}})
    options: dict[str, Any] = {"of": parent(three), "ceiling": ceiling_of(three)}
    done = mutated(back, back, component="topology", **options)
    assert isinstance(done.result, RejectedProposal)
    assert "cycle" in done.result.problems[0]


def test_a_statement_made_twice_counts_once_and_of_two_the_last() -> None:
    other = {"set_prompt": {"agent": "worker", "prompt": "Count thrice."}}
    result = mutated(edits(PROMPT, PROMPT, other, PROMPT), component="prompts").result
    assert isinstance(result, Proposal)
    assert result.edits == (SetPrompt(agent="worker", prompt="Count twice."),)


def test_a_tool_above_the_ceiling_is_not_granted() -> None:
    solver = llm("solver", agent_type="ToolCallingAgent", tools=("read_file",))
    alone = team("alone", solver)
    grant = edits({"grant_tool": {"agent": "solver", "tool": "list_files"}})
    options: dict[str, Any] = {"of": parent(alone), "component": "tools"}
    done = mutated(grant, grant, ceiling=ceiling_of(alone), **options)
    assert isinstance(done.result, RejectedProposal)
    assert "'list_files' is above the ceiling, which allows read_file" in done.result.problems[0]
    more = replace(ceiling_of(alone), tools=frozenset({"read_file", "list_files"}))
    result = mutated(grant, ceiling=more, **options).result
    assert isinstance(result, Proposal)
    assert result.child.agents["solver"].tools == ("list_files", "read_file")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("no", "it is not JSON: 'no'"),
        ("[1, 2]", 'a list under "edits"'),
        ('{"edits": [], "api_base": "http://x"}', "unknown fields"),
        ('{"edits": [' + "[" * 500 + "]" * 500 + "]}", "nested"),
    ],
)
def test_other_shapes_are_dropped(answer: str, message: str) -> None:
    done = mutated(answer, answer, component="prompts")
    assert isinstance(done.result, RejectedProposal)
    assert message in done.result.problems[0]


def test_a_repaired_answer_counts() -> None:
    result = mutated(edits(), edits(PROMPT), component="prompts").result
    assert isinstance(result, Proposal)


def test_a_reason_may_be_missing_and_is_cut_where_it_is_long() -> None:
    result = mutated({"edits": [PROMPT]}, component="prompts").result
    assert isinstance(result, Proposal)
    assert result.reason == ""
    result = mutated(edits(PROMPT, reason="x" * 9_000), component="prompts").result
    assert isinstance(result, Proposal)
    assert len(result.reason) == 600


def test_edits_that_decoding_would_not_have_offered_count_too() -> None:
    """Not every endpoint can be held to a schema; what it may write is the whole algebra."""
    three = team("three", llm("a"), llm("b"), llm("c"))
    chain = {"replace_topology": {"reports_to": {"a": ["b"], "b": ["c"]}}}
    result = mutated(
        edits(chain), of=parent(three), component="topology", ceiling=ceiling_of(three)
    ).result
    assert isinstance(result, Proposal)
    assert components(result.edits) == {"topology"}
    assert result.child.edges == (("a", "b"), ("b", "c"))
    assert AddEdge(sender="a", receiver="b") in diff(three, result.child)


def test_nothing_to_choose_is_said_without_a_call() -> None:
    done = mutated(component="tools")
    assert isinstance(done.result, RejectedProposal)
    assert "nothing to change about tools" in done.result.reason
    assert len(done.calls) == 0
    assert len(done.events_of("operator_dropped")) == 1


@pytest.mark.parametrize("component", ["roster", "notes", "metadata"])
def test_a_mutation_never_touches_the_roster_or_the_notes(component: Any) -> None:
    with pytest.raises(ValueError, match="a mutation touches one of prompts"):
        mutated(component=component)
