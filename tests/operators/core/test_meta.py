"""Asking a model: a schema, one repair, then no more; and all of it can be seen afterwards."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import MUTABLE, Bounds, MetaModel, RejectedProposal
from coterie.operators.core.answers import InvalidAnswer, structured
from coterie.operators.core.meta import OPERATORS, Question, prompt
from coterie.runtime import Calls, Gateway, Journal
from coterie.runtime.doubles import Reply
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest
from coterie.runtime.values.budget import BudgetReached
from coterie.schema import Catalogue, Model
from coterie.schema.edits.offer.strict import closed
from coterie.schema.loading.ceiling import CapabilityPolicy

from ..asking import Asked, asking

SCHEMA = closed(word={"type": "string", "enum": ["yes", "no"]})


def question(**fields: Any) -> Question[str]:
    given: dict[str, Any] = {
        "operator": "test",
        "instructions": "Say yes or no.",
        "material": "<task>Is it?</task>",
        "schema": SCHEMA,
        "read": lambda text: structured(text, SCHEMA, Bounds())["word"],
        "parents": ("pair",),
        **fields,
    }
    return Question(**given)


def asked(replies: Any, **options: Any) -> Asked[str | RejectedProposal]:
    return asking(replies, lambda meta: meta.ask("task 1/test", question()), **options)


def test_a_good_answer_is_read_and_told() -> None:
    done = asked(Reply.json({"word": "yes"}))
    assert done.result == "yes"
    [fields] = done.events_of("operator_answered")
    assert fields == {"path": "task 1/test", "operator": "test", "answer": '{"word": "yes"}'}
    [call] = done.events_of("model_call")
    assert call["path"] == "task 1/test/call 1"


def test_the_model_is_held_to_the_schema_and_told_it() -> None:
    [call] = asked(Reply.json({"word": "yes"})).calls
    held = call.body["response_format"]["json_schema"]
    assert (held["schema"], held["strict"]) == (SCHEMA, True)
    assert json.dumps(SCHEMA) in call.body["messages"][0]["content"]


class OneAnswer:
    """Stands where the gateway does, and answers the value that a request was written from."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        asked: Any = request.source
        return ChatAnswer(text=json.dumps({"word": asked.inputs["wanted"]}))


async def test_who_answers_is_handed_the_question_as_a_value_and_nobody_need_listen() -> None:
    gateway: Any = OneAnswer()
    meta = MetaModel(
        calls=Calls(gateway=gateway), catalogue=Catalogue.of_host(), ceiling=CapabilityPolicy()
    )
    wanted = question(inputs={"wanted": "yes"})
    assert await meta.ask("task 1/test", wanted) == "yes"


def test_every_question_of_an_operator_carries_its_values() -> None:
    calls = [
        (path.name, call.lineno, {keyword.arg for keyword in call.keywords})
        for path in OPERATORS.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Question"
    ]
    assert len(calls) > 25
    assert [(name, line) for name, line, given in calls if "inputs" not in given] == []


def test_an_embedded_model_is_held_to_the_schema_but_not_told_it() -> None:
    models = {"default": Model(alias="default", model="local")}
    meta = MetaModel(
        calls=Calls(gateway=Gateway(models)),
        catalogue=Catalogue.of_host(models=models),
        ceiling=CapabilityPolicy(),
    )
    assert "enum" not in meta._instructions(question())
    assert meta.limits.edits == 1 < Bounds().edits


def test_problems_are_handed_back_once() -> None:
    done = asked([Reply.json({"word": "perhaps"}), Reply.json({"word": "no"})])
    assert done.result == "no"
    [fields] = done.events_of("operator_repair")
    [problem] = fields["problems"]
    assert problem.startswith("word: 'perhaps' is not one of ['yes', 'no']")
    messages = done.calls[1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == '{"word": "perhaps"}'
    assert problem in messages[3]["content"]


def test_after_one_repair_it_is_given_up_and_counted() -> None:
    done = asked(["", "not this either"])
    assert done.result == RejectedProposal(
        operator="test",
        reason="the model gave no valid answer, also after one repair.",
        problems=("it is not JSON: 'not this either'",),
        parents=("pair",),
    )
    assert len(done.calls) == 2
    assert done.calls[1].body["messages"][2]["content"] == "(nothing)"
    [fields] = done.events_of("operator_dropped")
    assert fields["problems"] == ["it is not JSON: 'not this either'"]
    assert fields["parents"] == ["pair"]


def test_an_answer_that_was_cut_off_is_called_so() -> None:
    cut = Reply(text='{"word": "y', finish_reason="length")
    result = asked([cut, cut], bounds=Bounds(answer_tokens=5)).result
    assert isinstance(result, RejectedProposal)
    assert result.problems[0] == "it was cut off at 5 tokens. Write less."


def test_thinking_alone_is_no_answer_even_where_any_text_is_one() -> None:
    free = question(read=str)
    done = asking(["<think>yes", "yes"], lambda meta: meta.ask("t", free))
    assert done.result == "yes"
    assert done.events_of("operator_repair")[0]["problems"][0].startswith("it is thinking only.")


def test_a_long_bad_answer_is_not_sent_back_whole() -> None:
    done = asked(["x" * 50_000, Reply.json({"word": "no"})])
    assert len(done.calls[1].body["messages"][2]["content"]) == 4_000


def test_what_was_answered_once_is_not_asked_again(tmp_path: Path) -> None:
    replies = ["nonsense", Reply.json({"word": "no"})]
    with Journal.open(tmp_path) as journal:
        first = asked(replies, journal=journal)
        again = asked([], journal=journal)
    assert (first.result, again.result) == ("no", "no")
    assert len(again.calls) == 0
    assert len(again.events_of("operator_repair")) == 1


def test_a_budget_ends_it() -> None:
    with pytest.raises(BudgetReached):
        asked(["nonsense", Reply.json({"word": "no"})], budget="calls=1")


def test_a_model_that_cannot_be_had_is_no_bad_answer() -> None:
    with pytest.raises(CallError):
        asked(Reply.error(401))


def test_the_hosts_secrets_do_not_come_back() -> None:
    done = asked(["it is hunter2", "hunter2"], scrub=lambda text: text.replace("hunter2", "[…]"))
    assert isinstance(done.result, RejectedProposal)
    assert "hunter2" not in str(done.events)


def test_more_problems_than_a_model_can_mend_are_counted() -> None:
    unfit = InvalidAnswer(*(f"problem {number}" for number in range(11)))
    assert len(unfit.problems) == 9
    assert unfit.problems[-1] == "and 3 more problems."


VALUES: dict[str, dict[str, Any]] = {
    "answer": {"schema": "{}"},
    "appraise": {"rubric": "Be fair."},
    "attribute": {},
    "attribute_again": {"agent": "writer", "has_read": True, "nobody": "(nobody)"},
    "attribute_own": {"agent": "writer", "has_read": True, "is_posted": True},
    "centralise": {
        "agent_level": True,
        "pair_level": True,
        "team_level": True,
        "most": 4,
        "note": 100,
        "body": 1000,
        "patches": 12,
        "skills": 6,
        "rules": 3,
        "has_rules": True,
        "comes": True,
        "goes": True,
        "is_open": False,
        "edges": 2,
        "newcomers": 1,
    },
    "choose_topology": {"was_run": True},
    "check_answer": {},
    "coach": {"agent": "writer", "has_note": True, "wrong": 100, "plan": 200},
    "consolidate": {"characters": 100},
    "contributions": {"rubric": "Be fair.", "is_first": False},
    "crossover": {"topology": "first", "places": ["a: b"], "was_run": True},
    "decide": {"options": (*MUTABLE, "crossover"), "was_run": True},
    "discuss": {"agent": "writer", "longest": 100, "has_statements": True},
    "distil": {"agent": "writer", "context": 100, "action": 200, "rationale": 200},
    "dream_contrast": {"failed": "writer", "succeeded": "editor", "longest": 100},
    "dream_crystallize": {"most": 3, "longest": 100, "niches": True},
    "dream_debate": {"agent": "writer"},
    "dream_imagine": {"most": 3, "longest": 100, "niches": True, "shared": False},
    "dream_reflect": {"agent": "writer", "longest": 100, "has_own": True},
    "enlist": {"least": 2, "most": 4},
    "fork": {"persona": 100, "title": 50, "has_niche": True},
    "fuse": {"longest": 100},
    "gauge": {"most": 9},
    "genesis": {"persona": 100, "title": 50, "has_niche": True},
    "instantiate": {"edits": 3, "components": (*MUTABLE, "roster"), "was_run": True},
    "judge": {"rubric": "Be fair."},
    "lead": {"has_rounds": True},
    "lead_review": {"structure": "debate", "longest": 100},
    "merge": {"persona": 100, "title": 50},
    "mutate": {"component": "prompts", "edits": 3, "was_run": True},
    "race_propose": {"answers": True, "components": "prompts", "edits": 3, "is_own": True},
    "reflect": {"agent": "writer", "longest": 100, "has_own": True},
    "reorganise": {
        "note": 100,
        "rules": 3,
        "has_rules": True,
        "comes": True,
        "goes": True,
        "is_open": False,
        "newcomers": 1,
        "edges": 2,
        "lead": "writer",
        "has_statements": True,
    },
    "repair": {"problems": ["a"]},
    "restructure": {"agents": 1, "births": True, "deaths": True, "edges": 2},
    "retrospect": {
        "agent": "writer",
        "most": 4,
        "note": 100,
        "body": 1000,
        "summary": 200,
        "patches": 12,
        "skills": 6,
        "has_looks": True,
        "has_evidence": True,
    },
    "retrospect_evidence": {"agent": "writer", "asker": "editor", "longest": 100},
    "retrospect_looks": {"agent": "writer", "most": 4, "has_looks": True},
    "retrospect_questions": {"agent": "writer", "most": 2, "longest": 100},
    "rubric": {},
    "select": {"k": 3},
    "settle": {"agent": "writer", "other": "editor", "longest": 100, "has_account": True},
    "settle_account": {"agent": "writer", "other": "editor", "longest": 100},
    "specialize": {"persona": 100, "title": 50, "has_niche": True},
    "utterance": {},
}


@pytest.mark.parametrize(
    "path", sorted(OPERATORS.rglob("prompts/*.md")), ids=lambda path: path.stem
)
def test_every_prompt_has_a_version_and_all_its_values(path: Path) -> None:
    assert re.match(r"---\nversion: \d+\ndescription: .+\n---\n", path.read_text("utf-8"))
    text = prompt(path.stem, **VALUES[path.stem])
    assert text
    assert "{" not in text.replace("{}", "")


def test_every_component_has_advice_of_its_own() -> None:
    fields = {"edits": 1, "was_run": True}
    advice = {prompt("mutate", component=item, **fields).splitlines()[-1] for item in MUTABLE}
    assert len(advice) == len(MUTABLE)
    for entry in (*MUTABLE, "crossover"):
        assert f"- {entry}:" in prompt("decide", options=(entry,), was_run=True)


@pytest.mark.parametrize("name", sorted(name for name in VALUES if "was_run" in VALUES[name]))
def test_without_a_run_no_prompt_speaks_of_one(name: str) -> None:
    report = prompt(name, **VALUES[name])
    assert re.search(r"what\s+came\s+of", report)
    untold = prompt(name, **{**VALUES[name], "was_run": False})
    assert not re.search(r"came|worked|went wrong|\bruns?\b", untold.replace("run out", ""))
    assert not re.search(r" [.,;]|[.,;]{2}", untold)
