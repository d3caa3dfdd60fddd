"""Instantiation adapts a team to a task; it may take in and leave out agents, or do nothing."""

from __future__ import annotations

from typing import Any

import pytest

from coterie.operators import Dropped, Proposal, instantiate
from coterie.runtime.doubles import Reply
from coterie.runtime.functions import majority
from coterie.schema import Team
from coterie.schema.edits import apply, components

from .asking import PAIR, TASK, Asked, asking, catalogue, ceiling_of, llm, parent, team

CHECKER = {
    "add_agent": {
        "agent": "checker",
        "fields": {"role": "checker", "agent_type": "LLM", "prompt": "Recount."},
        "reports_to": ["judge"],
    }
}


def adapted(*answers: Any, of: Team = PAIR, **options: Any) -> Asked[Proposal | Dropped]:
    replies = [Reply.json({"reason": "it has to be counted", "edits": one}) for one in answers]
    return asking(replies, lambda meta: instantiate(meta, "i", TASK, parent(of)), **options)


def test_agents_may_be_added_and_prompts_changed_at_once() -> None:
    prompt = {"set_prompt": {"agent": "worker", "prompt": "Count the apples."}}
    done = adapted([CHECKER, prompt])
    made = done.came
    assert isinstance(made, Proposal)
    assert components(made.edits) == {"roster", "prompts"}
    assert list(made.child.agents) == ["worker", "judge", "checker"]
    assert made.child == apply(PAIR, made.edits, catalogue(), ceiling_of(PAIR))
    assert made.component is None
    assert TASK.answer not in done.calls[0].text


def test_a_team_that_fits_stays_as_it_is() -> None:
    made = adapted([]).came
    assert isinstance(made, Proposal)
    assert (made.edits, made.child) == ((), PAIR)
    assert made.reason == "it has to be counted"


def test_what_a_model_is_offered_are_edits_of_what_may_be_adapted() -> None:
    [call] = adapted([]).calls
    schema = call.body["response_format"]["json_schema"]["schema"]
    kinds = [
        next(iter(one["properties"])) for one in schema["properties"]["edits"]["items"]["anyOf"]
    ]
    assert set(kinds) == {"set_prompt", "set_model", "add_agent", "remove_agent"}


def test_other_components_are_not_its_to_edit() -> None:
    tokens = {"set_parameter": {"agent": "worker", "max_tokens": 10}}
    done = adapted([tokens], [tokens])
    assert isinstance(done.came, Dropped)
    assert done.came.problems == (
        "it edits parameters; here only prompts, model_id, topology, roster may be edited.",
    )


def test_an_agent_above_the_ceiling_is_not_taken_in() -> None:
    coder = {"agent": "coder", "fields": {"agent_type": "CodeAgent", "prompt": "Code it."}}
    done = adapted(*[[{"add_agent": {**coder, "reports_to": ["judge"]}}]] * 2)
    assert isinstance(done.came, Dropped)
    assert "above the ceiling" in done.came.problems[0]


def test_where_there_is_nothing_to_adapt_no_model_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(majority, "needs_reports", False, raising=False)
    alone = team("alone", llm("a", agent_type="Function", function="majority", prompt=""))
    ceiling = ceiling_of(alone)
    done = adapted(of=alone, ceiling=type(ceiling)(agents=1, models=frozenset()))
    assert isinstance(done.came, Proposal)
    assert done.came.child == alone
    assert len(done.calls) == 0
