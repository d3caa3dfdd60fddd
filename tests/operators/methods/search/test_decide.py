"""Decision: one question, one choice; none where there is none to make."""

from typing import Any

import pytest

from coterie.operators import MUTABLE, RejectedProposal, decide
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.doubles import Reply
from coterie.schema.edits import Component

from ...asking import TASK, Asked, asking, llm, parent, team

OTHER = team("other", llm("worker", prompt="Be brief."), llm("judge"))
RUN: dict[str, Any] = {"digest": "run: done\nanswer: 8", "reward": 0.25}


def decided(
    *answers: Any,
    of: Any = None,
    partner: Any = None,
    components: tuple[Component, ...] = MUTABLE,
    memories: Any = (),
    **options: Any,
) -> Asked[Any]:
    replies = [Reply.json({"reason": "why not", "change": answer}) for answer in answers]
    fields: dict[str, Any] = {"components": components, "memories": memories}
    of = of or parent(**RUN)
    return asking(
        replies, lambda meta: decide(meta, "step 1/decide", TASK, of, partner, **fields), **options
    )


def choices(done: Asked[Any]) -> list[str]:
    form = done.calls[0].body["response_format"]["json_schema"]["schema"]
    assert list(form["properties"]) == ["reason", "change"]
    return form["properties"]["change"]["enum"]


def test_the_model_chooses_among_what_is_open_and_a_crossover() -> None:
    done = decided("crossover", partner=parent(OTHER))
    assert done.result == "crossover"
    assert choices(done) == ["prompts", "model_id", "parameters", "crossover"]
    assert [fields["path"] for fields in done.events_of("model_call")] == ["step 1/decide/call 1"]


def test_without_a_partner_a_crossover_is_no_option() -> None:
    done = decided("model_id")
    assert done.result == "model_id"
    assert "crossover" not in choices(done)
    assert "partner" not in done.calls[0].text


def test_only_what_may_be_touched_is_an_option() -> None:
    done = decided("crossover", partner=parent(OTHER), components=("prompts", "tools"))
    assert choices(done) == ["prompts", "crossover"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"components": ("prompts",)}, "prompts"),
        ({"components": ("prompts", "tools")}, "prompts"),
        ({"components": (), "partner": parent(OTHER)}, "crossover"),
    ],
)
def test_of_one_option_nobody_is_asked(options: Any, text: str) -> None:
    done = decided(**options)
    assert (done.result, done.calls) == (text, [])


def test_where_there_is_no_option_it_is_dropped_and_said() -> None:
    done = decided(components=("tools",))
    assert isinstance(done.result, RejectedProposal)
    assert (done.result.operator, done.result.parents) == ("decide", ("pair",))
    assert len(done.events_of("operator_dropped")) == 1
    assert done.calls == []


def test_the_model_sees_both_teams_with_their_runs_and_what_was_learnt_but_no_answer() -> None:
    memory = Learnt(id="1", kind="evolution", task="pears", text="Voting helped.")
    partner = parent(OTHER, digest="run: done\nanswer: 9", reward=1.0)
    [call] = decided("prompts", partner=partner, memories=[memory]).calls
    for shown in ("How many apples?", "name: pair", "Reward: 0.25", "answer: 8", "Voting helped."):
        assert shown in call.text
    assert "<partner " in call.text
    assert "answer: 9" in call.text
    assert TASK.answer not in call.text


def test_a_choice_that_is_none_is_dropped_after_one_repair() -> None:
    done = decided("roster", "crossover")
    assert isinstance(done.result, RejectedProposal)
    assert len(done.calls) == 2
    assert len(done.events_of("operator_dropped")) == 1
    assert decided("roster", "prompts").result == "prompts"


def test_where_models_may_be_chosen_their_notes_are_shown() -> None:
    notes = {"fast": "Cheap; weak at proofs."}
    [call] = decided("prompts", notes=notes).calls
    assert "- fast: Cheap; weak at proofs." in call.text
    [call] = decided("prompts", components=("prompts", "parameters"), notes=notes).calls
    assert "weak at proofs" not in call.text


def test_without_a_run_the_question_speaks_of_none() -> None:
    [call] = decided("prompts", of=parent()).calls
    assert "what came of" not in call.text
    [call] = decided("prompts", of=parent(), partner=parent(OTHER, reward=0.5)).calls
    assert "what came of" in call.text
    assert "Reward: 0.5" in call.text
