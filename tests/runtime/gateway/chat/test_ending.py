"""Models that think: what they think is never an answer, and reaches nobody else."""

import json
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel

from ....support.teams import NUMBER
from ...conftest import Bench, llm, team

ASIDE = 'Maybe {"answer": 3}? No.'
ANSWER = '{"answer": 4}'
THINKING = [
    {"content": f"<think>{ASIDE}</think>{ANSWER}"},
    {"content": f"{ASIDE}\n</think>\n\n{ANSWER}"},
    {"content": ANSWER, "reasoning_content": ASIDE},
    {"content": ANSWER, "reasoning": ASIDE},
    {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": ASIDE}]},
            {"type": "text", "text": ANSWER},
        ]
    },
]


def sent(message: Any, finish_reason: str = "stop") -> Reply:
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Reply(body=json.dumps({"choices": [choice], "model": "m"}))


@pytest.mark.parametrize("message", THINKING)
def test_a_structured_answer_is_what_stands_after_the_thinking(bench: Bench, message: Any) -> None:
    with ScriptedModel(sent(message)) as model:
        run = bench.run(team(llm("solo", output_schema=NUMBER)), model)
    assert (run.answer, run.usage.calls) == ("4", 1)
    assert bench.of("model_call")[0].fields["thinking"] == ASIDE


@pytest.mark.parametrize("message", THINKING)
def test_no_colleague_reads_what_was_thought(bench: Bench, message: Any) -> None:
    with ScriptedModel({"[last]": "done", "": sent(message)}) as model:
        run = bench.run(team(llm("first"), llm("last"), edges={"first": ("last",)}), model)
        read = model.calls[1].text
    assert run.answer == "done"
    assert ANSWER in read
    assert "Maybe" not in read
    assert "Maybe" not in str(run)


def test_an_answer_of_thinking_alone_is_repaired_once(bench: Bench) -> None:
    only = sent({"content": "", "reasoning_content": ASIDE})
    with ScriptedModel([only, sent({"content": ANSWER})]) as model:
        run = bench.run(team(llm("solo", output_schema=NUMBER)), model)
        asked = (model.calls[1].body or {})["messages"]
    assert run.answer == "4"
    assert asked[2] == {"role": "assistant", "content": "(no words)"}
    assert "it is thinking only. Think less" in asked[3]["content"]


@pytest.mark.parametrize("form", [None, NUMBER])
def test_thinking_that_takes_all_tokens_is_said(bench: Bench, form: Any) -> None:
    with ScriptedModel(sent({"content": f"<think>{ASIDE}"}, "length")) as model:
        run = bench.run(team(llm("solo", output_schema=form, max_tokens=64)), model)
    assert run.answer is None
    wanted = "the model spent all of its max_tokens (64) on thinking and left none for an answer."
    assert wanted in str(run.error)
    assert "Raise max_tokens." in str(run.error)


def test_a_model_that_stops_while_it_thinks_is_said_to_have_only_thought(bench: Bench) -> None:
    with ScriptedModel(f"<think>{ASIDE}") as model:
        run = bench.run(team(llm("solo")), model)
    assert "only thought and did not answer (finish reason 'stop')" in str(run.error)
