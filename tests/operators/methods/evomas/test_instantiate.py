"""Instantiation adapts a team to a task; it may take in and leave out agents, or do nothing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import MUTABLE, Proposal, RejectedProposal, instantiate
from coterie.runtime.doubles import Reply
from coterie.runtime.scoring.functions import majority
from coterie.schema import Team
from coterie.schema.edits import Component, apply, components

from ...asking import PAIR, TASK, Asked, asking, catalogue, ceiling_of, llm, parent, team

CHECKER: dict[str, Any] = {
    "add_agent": {
        "agent": "checker",
        "fields": {"role": "checker", "agent_type": "LLM", "prompt": "Recount."},
        "place": {"reports_to": ["judge"]},
    }
}


def adapted(
    *answers: Any, of: Team = PAIR, allowed: Sequence[Component] = MUTABLE, **options: Any
) -> Asked[Proposal | RejectedProposal]:
    replies = [
        Reply.json({"reason": "it has to be counted", "edits": answer}) for answer in answers
    ]
    report: Any = {"components": allowed}
    return asking(
        replies, lambda meta: instantiate(meta, "i", TASK, parent(of), **report), **options
    )


def kinds(done: Asked[Any]) -> set[str]:
    """What the model was offered, by the kinds of edits."""
    schema = done.calls[0].body["response_format"]["json_schema"]["schema"]
    items = schema["properties"]["edits"]["items"]
    offered = items.get("anyOf", [items])
    return {next(iter(item["properties"])) for item in offered}


def test_agents_may_be_added_and_prompts_changed_at_once() -> None:
    prompt = {"set_prompt": {"agent": "worker", "prompt": "Count the apples."}}
    done = adapted([CHECKER, prompt])
    result = done.result
    assert isinstance(result, Proposal)
    assert components(result.edits) == {"roster", "prompts"}
    assert list(result.child.agents) == ["worker", "judge", "checker"]
    assert result.child == apply(PAIR, result.edits, catalogue(), ceiling_of(PAIR))
    assert result.component is None
    assert TASK.answer not in done.calls[0].text


def test_a_team_that_fits_stays_as_it_is() -> None:
    result = adapted([]).result
    assert isinstance(result, Proposal)
    assert (result.edits, result.child) == ((), PAIR)
    assert result.reason == "it has to be counted"


def test_what_a_model_is_offered_are_edits_of_what_may_be_adapted() -> None:
    assert kinds(adapted([])) == {"set_prompt", "set_model", "add_agent", "remove_agent"}


@pytest.mark.parametrize(
    ("allowed", "offered", "message", "unsaid"),
    [
        (("prompts",), {"set_prompt"}, "the prompts of agents", "add and remove"),
        (("model_id", "tools"), {"set_model"}, "the models that agents ask", "the prompts of"),
        (("prompts", "model_id"), {"set_prompt", "set_model"}, "models that agents ask", "whom"),
    ],
)
def test_it_keeps_to_what_may_be_touched(
    allowed: Sequence[Component], offered: set[str], message: str, unsaid: str
) -> None:
    done = adapted([], allowed=allowed)
    assert kinds(done) == offered
    assert message in done.calls[0].text
    assert unsaid not in done.calls[0].text
    refused = adapted([CHECKER], [CHECKER], allowed=allowed).result
    assert isinstance(refused, RejectedProposal)
    assert "it edits roster" in refused.problems[0]


def test_agents_come_and_go_where_the_topology_may_be_touched() -> None:
    done = adapted([CHECKER], allowed=("topology",))
    assert kinds(done) >= {"add_agent"}
    assert kinds(done).isdisjoint({"set_prompt", "set_model"})
    assert isinstance(done.result, Proposal)


def test_where_models_may_not_be_touched_newcomers_have_those_of_the_team() -> None:
    strong = {**CHECKER["add_agent"], "fields": {"model_id": "fast", "prompt": "Recount."}}
    asked: Any = {"ceiling": ceiling_of(PAIR)}
    assert isinstance(adapted([{"add_agent": strong}], **asked).result, Proposal)
    done = adapted(*[[{"add_agent": strong}]] * 2, allowed=("prompts", "topology"), **asked)
    assert isinstance(done.result, RejectedProposal)
    assert "'fast' is above the ceiling, which allows default" in done.result.problems[0]
    assert '"fast"' not in json.dumps(done.calls[0].body["response_format"])


@pytest.mark.parametrize("allowed", [("tools", "parameters"), ()])
def test_where_nothing_may_be_adapted_nobody_is_asked(allowed: Sequence[Component]) -> None:
    done = adapted(allowed=allowed)
    assert isinstance(done.result, Proposal)
    assert (done.result.child, done.result.edits, done.result.words) == (PAIR, (), ())
    assert done.result.reason == "There is nothing to adapt."
    assert done.calls == []


def test_a_team_above_the_ceiling_of_which_nothing_may_be_adapted_stays_as_it_is() -> None:
    tight = replace(ceiling_of(PAIR), max_tokens=1)
    assert isinstance(adapted(allowed=(), ceiling=tight).result, Proposal)


def test_the_notes_of_the_models_that_may_be_chosen_are_shown() -> None:
    notes = {"fast": "Cheap; weak at proofs.", "default": "Thorough."}
    [call] = adapted([], notes=notes).calls
    assert "- default: Thorough.\n- fast: Cheap; weak at proofs." in call.text
    [call] = adapted([], notes=notes, allowed=("prompts", "topology")).calls
    assert "Thorough" in call.text
    assert "weak at proofs" not in call.text
    [call] = adapted([], notes=notes, allowed=("prompts",)).calls
    assert "Thorough" not in call.text


def test_other_components_are_not_its_to_edit() -> None:
    tokens = {"set_parameter": {"agent": "worker", "max_tokens": 10}}
    done = adapted([tokens], [tokens])
    assert isinstance(done.result, RejectedProposal)
    assert done.result.problems == (
        "it edits parameters; here only prompts, model_id, topology, roster may be edited.",
    )


def test_an_agent_above_the_ceiling_is_not_taken_in() -> None:
    coder = {"agent": "coder", "fields": {"agent_type": "CodeAgent", "prompt": "Code it."}}
    done = adapted(*[[{"add_agent": {**coder, "place": {"reports_to": ["judge"]}}}]] * 2)
    assert isinstance(done.result, RejectedProposal)
    assert "above the ceiling" in done.result.problems[0]


def test_where_there_is_nothing_to_adapt_no_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(majority, "needs_reports", False, raising=False)
    alone = team("alone", llm("a", agent_type="Function", function="majority", prompt=""))
    ceiling = ceiling_of(alone)
    done = adapted(of=alone, ceiling=type(ceiling)(agents=1, models=frozenset()))
    assert isinstance(done.result, Proposal)
    assert done.result.child == alone
    assert len(done.calls) == 0
